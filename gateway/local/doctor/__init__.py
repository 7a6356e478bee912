"""`maquette doctor`: what is wrong with this installation, and what to do. It looks, it judges, it changes nothing.

A check is a look (the world → facts) and a judgement (facts → findings, pure); `roster` lists them.
"""
