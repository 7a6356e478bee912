"""The discriminator's head: frozen CLIP embeddings → how likely the heavy tier would do clearly better.

Prompts are split 60 : 20 : 20 into training, calibration and test. The public score of a light picture is one minus
the calibrated probability, so it reads “probability that the light picture is good enough”.
"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.optimize import isotonic_regression
from scipy.stats import rankdata
from torch import nn
from torch.nn import functional
from typing_extensions import override

from shapes.train.pairs import Pairs

MARGIN = 0.05
"""By how much the heavy picture's share right must exceed the light one's to count as better."""

_PENALTIES = (3e-4, 1e-3, 3e-3, 1e-2, 3e-2, 1e-1)
_FLOOR = 0.005
_TIE = 1e-4
_MOST_KNOTS = 200
_BINS = 10

Vector = NDArray[np.float64]


class Head(nn.Module):
    """Logistic regression on [image, text, image·text, |image-text|, cosine]."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.linear = nn.Linear(4 * width + 1, 1)

    @override
    def forward(self, image_embedding: torch.Tensor, text_embedding: torch.Tensor) -> torch.Tensor:
        """Return logits [B] of “heavy better” from embeddings [B, D] of length one."""
        return self.linear(features(image_embedding, text_embedding)).squeeze(-1)


def features(image: torch.Tensor, text: torch.Tensor) -> torch.Tensor:
    """Return [B, 4D + 1] from two [B, D]."""
    product = image * text
    return torch.cat([image, text, product, (image - text).abs(), product.sum(-1, keepdim=True)], dim=-1)


@dataclass(frozen=True, slots=True)
class Split:
    """Row numbers of the three parts."""

    train: NDArray[np.int64]
    calibrate: NDArray[np.int64]
    test: NDArray[np.int64]

    @classmethod
    def of(cls, count: int, seed: int) -> "Split":
        """Shuffle `count` rows; each row is one prompt, so no prompt is in two parts."""
        order = np.random.default_rng([seed, 6]).permutation(count)
        return cls(*np.split(order, [int(0.6 * count), int(0.8 * count)]))


@dataclass(frozen=True, slots=True)
class Calibrator:
    """A rising piecewise-linear map from logit to probability; outside its knots it is flat."""

    x: Vector
    y: Vector

    @classmethod
    def fit(cls, logits: Vector, labels: Vector) -> "Calibrator":
        """Fit isotonic regression, thinned to 200 knots.

        Its plateaus get a slope of 1e-4 and stay off 0 and 1: scores must differ for a threshold to cut any share.
        """
        order = np.argsort(logits, kind="stable")
        x, y = logits[order], isotonic_regression(labels[order]).x
        edges = np.flatnonzero(np.diff(y) > 0)
        kept = np.unique(np.concatenate([[0, len(x) - 1], edges, edges + 1]))
        if len(kept) > _MOST_KNOTS:
            kept = kept[np.linspace(0, len(kept) - 1, _MOST_KNOTS).round().astype(int)]
        x, first = np.unique(x[kept], return_index=True)
        y = _FLOOR + (1 - 2 * _FLOOR) * y[kept][first]
        return cls(x, np.clip(y + _TIE * (x - x.mean()), 0.0, 1.0))

    def __call__(self, logits: Vector) -> Vector:
        """Return probabilities, the same shape as `logits`."""
        return np.interp(logits, self.x, self.y)


def labels_of(pairs: Pairs) -> Vector:
    """Return the share of heavy pictures that beat the light one by the margin, [N] in 0..1."""
    return (pairs.heavy - pairs.light[:, None] > MARGIN).mean(axis=1).astype(np.float64)


def fit(pairs: Pairs, rows: NDArray[np.int64], seed: int) -> Head:
    """Fit the head on `rows`, the penalty chosen on a fifth of them."""
    labels = labels_of(pairs)
    inner, outer = rows[: int(0.8 * len(rows))], rows[int(0.8 * len(rows)) :]
    losses = {}
    for penalty in _PENALTIES:
        head = _regress(pairs, inner, labels, penalty, seed)
        losses[penalty] = float(np.square(_sigmoid(logits_of(head, pairs, outer)) - labels[outer]).mean())
    return _regress(pairs, rows, labels, min(losses, key=lambda penalty: losses[penalty]), seed)


def _regress(pairs: Pairs, rows: NDArray[np.int64], labels: Vector, penalty: float, seed: int) -> Head:
    """Solve the penalised logistic regression on standardised features, then fold the standardising in."""
    torch.manual_seed(seed)
    x = features(torch.from_numpy(pairs.image[rows]), torch.from_numpy(pairs.text[rows])).double()
    y = torch.from_numpy(labels[rows])
    mean, spread = x.mean(0), x.std(0) + 1e-6
    x = (x - mean) / spread
    weight = torch.zeros(x.shape[1], dtype=torch.float64, requires_grad=True)
    bias = torch.zeros((), dtype=torch.float64, requires_grad=True)
    solver = torch.optim.LBFGS([weight, bias], max_iter=300, line_search_fn="strong_wolfe")

    def closure() -> torch.Tensor:
        solver.zero_grad()
        loss = functional.binary_cross_entropy_with_logits(x @ weight + bias, y) + penalty * weight.square().sum()
        loss.backward()
        return loss

    solver.step(closure)
    head = Head(pairs.image.shape[1])
    with torch.no_grad():
        head.linear.weight.copy_((weight / spread)[None])
        head.linear.bias.copy_((bias - (weight * mean / spread).sum())[None])
    return head


@torch.no_grad()
def logits_of(head: Head, pairs: Pairs, rows: NDArray[np.int64]) -> Vector:
    """Return the head's logits for `rows`."""
    return head(torch.from_numpy(pairs.image[rows]), torch.from_numpy(pairs.text[rows])).double().numpy()


def auroc(scores: Vector, labels: Vector) -> float:
    """Area under the ROC curve of fractional labels: the chance that a positive outranks a negative."""
    order = np.argsort(scores, kind="stable")
    labels = labels[order]
    negatives = np.concatenate([[0.0], np.cumsum(1 - labels)])  # how much negative mass lies before each row
    first, last = (rankdata(scores[order], method).astype(int) for method in ("min", "max"))
    outranked = (negatives[first - 1] + negatives[last]) / 2
    return float((labels * outranked).sum() / (labels.sum() * (1 - labels).sum()))


def calibration_error(probabilities: Vector, labels: Vector) -> float:
    """Expected calibration error over ten bins of equal mass."""
    bins = np.array_split(np.argsort(probabilities), _BINS)
    gaps = [len(rows) * abs(probabilities[rows].mean() - labels[rows].mean()) for rows in bins]
    return float(sum(gaps) / len(probabilities))


def deferral_area(escalate: Vector, gain: Vector) -> float:
    """Area under mean gain against escalated share, 0 for a random order and 1 for the order of the gain itself."""

    def area(order: NDArray[np.intp]) -> float:
        return float(np.cumsum(gain[order]).mean())

    random = gain.sum() * (len(gain) + 1) / 2 / len(gain)
    return (area(np.argsort(-escalate)) - random) / (area(np.argsort(-gain)) - random)


def _sigmoid(logits: Vector) -> Vector:
    return 1 / (1 + np.exp(-logits))


def calibrate(pairs: Pairs, seed: int) -> tuple[Head, dict[str, Any]]:
    """Fit, calibrate, and measure on the test split.

    Returns:
        The head, and the content of calibration.json but for the names and digests.
    """
    split, labels = Split.of(len(pairs.light), seed), labels_of(pairs)
    head = fit(pairs, split.train, seed)
    fitted = logits_of(head, pairs, split.calibrate)
    calibrator = Calibrator.fit(fitted, labels[split.calibrate])
    tested = calibrator(logits_of(head, pairs, split.test))
    truth = labels[split.test]
    gain = (pairs.heavy.mean(1) - pairs.light)[split.test].astype(np.float64)
    cosine = (pairs.image * pairs.text).sum(1)[split.test].astype(np.float64)
    return head, {
        "knots": {"x": calibrator.x.tolist(), "y": calibrator.y.tolist()},
        "score_quantiles": np.quantile(1 - calibrator(fitted), np.linspace(0, 1, 101)).tolist(),
        "margin": MARGIN,
        "n_pairs": len(labels),
        "splits": {"train": len(split.train), "calibrate": len(split.calibrate), "test": len(split.test)},
        "heavy_better": float(labels.mean()),
        "auroc": auroc(tested, truth),
        "auroc_of_cosine": auroc(-cosine, truth),
        "brier": float(np.square(tested - truth).mean()),
        "ece": calibration_error(tested, truth),
        "deferral_area": deferral_area(tested, gain),
        "deferral_area_of_cosine": deferral_area(-cosine, gain),
        "light_share_right": float(pairs.light.mean()),
        "heavy_share_right": float(pairs.heavy.mean()),
    }


def save(folder: Path, head: Head, figures: dict[str, Any]) -> None:
    """Keep the head and its figures in a run folder."""
    torch.save(head.state_dict(), folder / "head.pt")
    (folder / "head.json").write_text(json.dumps(figures), "utf-8")


def load(folder: Path) -> tuple[Head, dict[str, Any]]:
    """Read what `save` kept."""
    state = torch.load(folder / "head.pt", weights_only=True)
    head = Head((state["linear.weight"].shape[1] - 1) // 4)
    head.load_state_dict(state)
    return head, json.loads((folder / "head.json").read_text("utf-8"))
