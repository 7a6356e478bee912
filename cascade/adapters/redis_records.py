"""A job as Redis keeps it: one record that never changes, and one record per picture that is replaced as a whole."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import msgspec

from cascade.jobs import Failure, Job, Picture, Status
from cascade.plans import CascadePlan
from cascade.progress import after_cancel, after_failure

WORKER_LOST = Failure(
    code="worker_lost", message="The workers that drew this picture stopped answering, several times. Try again later."
)

_encode = msgspec.json.Encoder().encode
_decode_job = msgspec.json.Decoder(Job).decode
_decode_picture = msgspec.json.Decoder(Picture).decode


def job_record(job: Job) -> str:
    """The part of a job that never changes."""
    return _encode(replace(job, pictures=())).decode()


def picture_record(picture: Picture, plan: CascadePlan) -> tuple[str, str, str, str, str]:
    """A picture for the scripts: itself, next pool, its work there, its self if its worker dies, or if it is given up.

    All but the first are empty for a picture that no longer waits. Lua chooses among these selves and edits none: what
    a loss or a cancellation means is decided in `cascade.progress`, and prices never pass through Lua's numbers.
    """
    itself = _encode(picture).decode()
    if picture.status is not Status.WAITING:
        return itself, "", "", "", ""
    lost = after_failure(picture, WORKER_LOST, gpu_ms=0)
    gave_up = after_cancel(picture, gpu_ms=0)
    stage = plan.stages[picture.stage]
    return itself, stage.pool, str(stage.predicted_gpu_ms), _encode(lost).decode(), _encode(gave_up).decode()


def to_job(fields: Mapping[str, str]) -> Job:
    """The job that a hash of `queue.lua` describes."""
    pictures = (_decode_picture(fields[f"picture:{index}"]) for index in range(int(fields["size"])))
    return replace(_decode_job(fields["job"]), pictures=tuple(pictures))
