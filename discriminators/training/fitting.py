"""From pairs to a head. One function per kind; which features and labels differ, all else is shared."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import torch
from torch import nn

from discriminators.calibrated_head import Kind
from discriminators.training.errors import HeadUnfitError, TooFewPairsError
from discriminators.training.examples import Examples
from discriminators.training.heads import Head, Mean, PairHead, RealFakeHead, RouterHead, pair_features
from discriminators.training.pairs import MARGIN, Floats, Pairs, Rows, Vector
from discriminators.training.perceptron import Schedule, fit_perceptron
from discriminators.training.regression import fit_line

_AT_ONCE = 4096


@dataclass(frozen=True, slots=True)
class Recipe:
    """How to fit.

    Attributes:
        kind: what the head looks at.
        seed: of everything random; the same seed, pairs and machine give the same head.
        margin: by how much heavy must exceed light to count as better.
        few: with fewer training rows the head is a logistic regression, otherwise an ensemble of networks.
        members: of the ensemble.
        schedule: of each member.
    """

    kind: Kind = Kind.PAIR
    seed: int = 0
    margin: float = MARGIN
    few: int = 5000
    members: int = 5
    schedule: Schedule = field(default_factory=Schedule)


@dataclass(frozen=True, slots=True)
class TruePictures:
    """Pictures as good as they get, which a real-or-fake head tells from the light tier's.

    Attributes:
        image: [M, F] float32 features.
        group: [M] int64: the prompt that each was drawn for, or -1 for none (photographs).
    """

    image: Floats
    group: Rows


def fit(pairs: Pairs, rows: Rows, recipe: Recipe, true: TruePictures | None = None) -> Head:
    """Fit a head of the recipe's kind on `rows`.

    Args:
        pairs: all of them.
        rows: the training rows.
        recipe: how.
        true: for a real-or-fake head only. Those of prompts that `rows` does not hold are left out.

    Raises:
        TooFewPairsError: all labels are the same, so there is nothing to learn.
        HeadUnfitError: a real-or-fake head was asked for without true pictures.
    """
    if recipe.kind is Kind.PAIR:
        return fit_pair_head(pairs, rows, recipe)
    if recipe.kind is Kind.ROUTER:
        return fit_router(pairs, rows, recipe)
    if true is None:
        raise HeadUnfitError("A real-fake head needs true pictures to tell the light tier's from. Give some.")
    return fit_real_fake(pairs, rows, recipe, true)


def fit_pair_head(pairs: Pairs, rows: Rows, recipe: Recipe) -> PairHead:
    """Fit P(heavy better) and the gain from picture and prompt.

    Raises:
        TooFewPairsError: all labels are the same.
    """
    features = pair_features(torch.from_numpy(pairs.image[rows]), torch.from_numpy(pairs.text[rows]))
    return PairHead(_body(_examples(pairs, rows, features, recipe.margin), recipe)).eval()


def fit_router(pairs: Pairs, rows: Rows, recipe: Recipe) -> RouterHead:
    """Fit P(heavy better) and the gain from the prompt alone.

    Raises:
        TooFewPairsError: all labels are the same.
    """
    features = torch.from_numpy(pairs.text[rows])
    return RouterHead(_body(_examples(pairs, rows, features, recipe.margin), recipe)).eval()


def fit_real_fake(pairs: Pairs, rows: Rows, recipe: Recipe, true: TruePictures) -> RealFakeHead:
    """Fit P(not a true picture), DiffServe's (2411.15381) and HADIS' (2509.00642) discriminator, on the features.

    Raises:
        TooFewPairsError: no true picture is left for training.
    """
    usable = (true.group < 0) | np.isin(true.group, pairs.group[rows])
    fake, real = pairs.image[rows], true.image[usable]
    count = len(fake) + len(real)
    weight = np.concatenate([pairs.weight[rows] / pairs.weight[rows].sum(), np.full(len(real), 1 / max(len(real), 1))])
    examples = Examples(
        x=torch.from_numpy(np.concatenate([fake, real])),
        label=torch.from_numpy(np.repeat(np.array([1, 0], np.float32), [len(fake), len(real)])),
        gain=torch.zeros(count),
        quality=torch.zeros(count),
        weight=torch.from_numpy((weight / weight.mean()).astype(np.float32)),
        group=np.concatenate([pairs.group[rows], _own_groups(true.group[usable], pairs.group)]),
    )
    head = RealFakeHead(_body(examples, recipe)).eval()
    _regress_gain(head, pairs, rows)
    return head


@torch.no_grad()
def logits_of(head: Head, pairs: Pairs, rows: Rows) -> Vector:
    """Raw logits [M] float64 of `rows`."""
    return answers_of(head, pairs, rows)[0]


@torch.no_grad()
def answers_of(head: Head, pairs: Pairs, rows: Rows) -> tuple[Vector, Vector]:
    """Raw logits and gains, each [M] float64, of `rows`."""
    known = {"image_features": pairs.image, "text_embedding": pairs.text}
    parts = [
        head(*(torch.from_numpy(known[name][some]) for name in head.kind.inputs))
        for some in np.split(rows, range(_AT_ONCE, len(rows), _AT_ONCE))
    ]
    logits, gains = (torch.cat(column).double().numpy() for column in zip(*parts, strict=True))
    return logits, gains


def _examples(pairs: Pairs, rows: Rows, features: torch.Tensor, margin: float) -> Examples:
    weight = pairs.weight[rows]
    return Examples(
        x=features,
        label=torch.from_numpy(pairs.labels(margin)[rows].astype(np.float32)),
        gain=torch.from_numpy(pairs.gains()[rows].astype(np.float32)),
        quality=torch.from_numpy(pairs.light[rows]),
        weight=torch.from_numpy(weight / weight.mean()),
        group=pairs.group[rows],
    )


def _body(examples: Examples, recipe: Recipe) -> nn.Module:
    """What maps features to answers.

    Raises:
        TooFewPairsError: all labels are the same.
    """
    if not 0 < float(examples.label.mean()) < 1:
        raise TooFewPairsError("Every training pair has the same verdict, so there is nothing to learn. Collect more.")
    if len(examples.label) < recipe.few:
        return fit_line(examples, recipe.seed)
    members = [fit_perceptron(examples, recipe.seed, member, recipe.schedule) for member in range(recipe.members)]
    return Mean(list[nn.Module](members))


def _own_groups(groups: Rows, taken: Rows) -> Rows:
    """Groups in which each picture of no prompt has one of its own."""
    fresh = max(int(taken.max()), 0) + 1 + np.arange(len(groups))
    return np.where(groups < 0, fresh, groups).astype(np.int64)


def _regress_gain(head: RealFakeHead, pairs: Pairs, rows: Rows) -> None:
    """Least squares of the gain on the logit."""
    logits, gains = logits_of(head, pairs, rows), pairs.gains()[rows]
    spread = float(np.var(logits))
    slope = float(np.cov(logits, gains, bias=True)[0, 1]) / spread if spread > 0 else 0.0
    head.gain_per_logit.fill_(slope)
    head.gain_at_zero.fill_(float(gains.mean()) - slope * float(logits.mean()))
