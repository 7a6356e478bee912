"""Making heads: from pairs of pictures to a folder that serving loads. Needs torch; serving imports nothing of it.

Start with `fitting.py` (pairs to a head) and `building.py` (a head to a folder).
"""
