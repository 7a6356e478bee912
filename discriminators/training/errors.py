"""What can go wrong in making a head, drawn as a tree.

TrainingError
├── PairsError        the pairs cannot be read or make no sense
├── TooFewPairsError  there is not enough to learn or to measure from
├── HeadUnfitError    a head and a CLIP, or a head and pairs, do not belong together
└── ParityError       the exported graph does not compute what torch computes
"""

from __future__ import annotations


class TrainingError(ValueError):
    """Something in the making of heads that is known by name."""


class PairsError(TrainingError):
    """The pairs cannot be read or make no sense."""


class TooFewPairsError(TrainingError):
    """There is not enough to learn or to measure from."""


class HeadUnfitError(TrainingError):
    """A head does not belong to this CLIP, or cannot be measured on these pairs."""


class ParityError(TrainingError):
    """The exported graph does not compute what torch computes."""
