"""The tiny world: pictures of coloured shapes, their words, and an oracle that can tell right from wrong.

Everything outside `shapes.train` needs numpy, scipy and pillow only. It knows no model and no gateway.
Start reading at `shapes.scenes`.
"""
