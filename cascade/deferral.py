"""Accept a picture, or let it climb. The one decision a cascade is made of."""

from __future__ import annotations

from cascade.jobs import Score, Verdict
from cascade.plans import Stage


def decide(score: Score | None, stage: Stage, *, last: bool) -> Verdict:
    """Accept what is good enough, what nobody could judge and what nothing can improve."""
    if last or score is None or score.value >= stage.threshold:
        return Verdict.ACCEPT
    return Verdict.ESCALATE
