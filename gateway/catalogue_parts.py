"""What the models of a catalogue file share."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field


class Strict(BaseModel):
    """Says no to what it does not know."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Licensed(Strict):
    """Has a licence: what it says here goes before what its folders say."""

    license: str = ""
    license_override: str = Field(default="", pattern=r"\S")


class MisfitError(ValueError):
    """A value that is well written does not fit the world; `place` is where it stands in the file."""

    def __init__(self, place: tuple[str | int, ...], reason: str) -> None:
        self.place = place
        super().__init__(reason)
