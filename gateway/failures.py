"""What can go wrong in the hall itself; the rooms have trees of their own.

HallError
├── MissingKeyError        the request carries no API key
├── LinkError              a signed link is malformed, tampered with or expired
├── NotFoundError          no such thing, or not the caller's
├── NoWorkerError          nobody serves a pool that the plan needs
├── DeadlineExceededError  a synchronous request took too long
└── GenerationFailedError  no picture could be drawn
"""

from __future__ import annotations

from cascade.jobs import Job
from cascade.plans import PoolName


class HallError(Exception):
    """Something went wrong between the rooms."""


class MissingKeyError(HallError):
    """The request carries no API key."""

    def __init__(self) -> None:
        super().__init__("You didn't provide an API key. Send it as `Authorization: Bearer YOUR_KEY`.")


class LinkError(HallError):
    """A signed link is malformed, tampered with or expired."""

    def __init__(self) -> None:
        super().__init__("This link is not valid (any more). Ask for the picture again to get a fresh one.")


class NotFoundError(HallError):
    """There is no such thing, or it is not the caller's."""

    def __init__(self, what: str) -> None:
        super().__init__(f"There is no such {what}.")


class NoWorkerError(HallError):
    """Nobody serves a pool that the plan needs."""

    def __init__(self, pools: tuple[PoolName, ...]) -> None:
        super().__init__(f"No worker serves the pool {', '.join(pools)} at the moment; nothing was started or charged.")


class DeadlineExceededError(HallError):
    """A synchronous request took too long."""

    def __init__(self, seconds: float) -> None:
        super().__init__(
            f"The pictures were not ready after {seconds:g} s and were cancelled; only what ran was charged."
        )


class GenerationFailedError(HallError):
    """No picture could be drawn."""

    def __init__(self, job: Job) -> None:
        reasons = {picture.failure.message for picture in job.pictures if picture.failure is not None}
        super().__init__(" ".join(sorted(reasons)) or "No picture could be drawn.")
