"""The words and every decision: plan, route, price, order, judge.

Pure Python: nothing here knows HTTP, Redis, torch or a tenant's rules. Start with `requests` and `plans`
(the nouns), then `deferral` (accept or escalate) and `progress` (what one finished stage leads to).
Effects live behind the protocols of `ports`; their implementations are in `adapters`.
"""
