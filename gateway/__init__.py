"""The hall: HTTP, wiring, the story of a request. Decides nothing.

Read `flow` (what happens to a request), then `worker` (what happens to a picture), then `compose` (who is behind each
port). `app` serves it over HTTP, `supervisor` runs everything on one machine.
"""
