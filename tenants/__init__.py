"""Who asks, what may they spend, what did they spend.

`types` are the nouns, `keys` mints and verifies, `ports` says what must be kept elsewhere; `adapters` keep it in Redis.
"""
