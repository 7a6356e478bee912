"""How far two sets of pictures are apart in an encoder's space: unbiased squared MMDs. Pure, in float64.

    1/(m(m−1)) Σ_{i≠j} k(x_i, x_j) + 1/(n(n−1)) Σ_{i≠j} k(y_i, y_j) − 2/(mn) Σ_{i,j} k(x_i, y_j)

is the U-statistic of Gretton et al., “A Kernel Two-Sample Test” (2012). CMMD's Gaussian kernel with σ = 10 on CLIP
embeddings is of Jayasumana et al., “Rethinking FID” (2024), whose own code uses the biased statistic; KID's cubic
kernel is of Bińkowski et al., “Demystifying MMD GANs” (2018). Two sets of true pictures come out around 0, on either
side of it.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

Matrix = NDArray[np.float64]
Kernel = Callable[[Matrix, Matrix], Matrix]

CMMD_SIGMA = 10.0
_KID_POWER = 3
_FEWEST = 2


def cmmd(one: ArrayLike, other: ArrayLike, sigma: float = CMMD_SIGMA) -> float:
    """Squared MMD with k(x, y) = exp(−‖x − y‖² / 2σ²) of sets [M, D] and [N, D], at least two each.

    Raises:
        ValueError: a set is too small, or they are of different widths.
    """
    return squared_mmd(one, other, lambda x, y: np.exp(-_squared_distances(x, y) / (2 * sigma**2)))


def kid(one: ArrayLike, other: ArrayLike) -> float:
    """Squared MMD with k(x, y) = (x·y / D + 1)³ of sets [M, D] and [N, D], at least two each.

    Raises:
        ValueError: a set is too small, or they are of different widths.
    """
    return squared_mmd(one, other, lambda x, y: (x @ y.T / x.shape[1] + 1) ** _KID_POWER)


def squared_mmd(one: ArrayLike, other: ArrayLike, kernel: Kernel) -> float:
    """The unbiased estimate; it may be below 0.

    Args:
        one: [M, D], at least two rows.
        other: [N, D], at least two rows.
        kernel: of [A, D] and [B, D], gives [A, B].

    Raises:
        ValueError: a set is too small, or they are of different widths.
    """
    x, y = np.asarray(one, np.float64), np.asarray(other, np.float64)
    if min(len(x), len(y)) < _FEWEST or x.shape[1:] != y.shape[1:]:
        raise ValueError(f"need two sets of at least two rows of one width, got {x.shape} and {y.shape}")
    return _mean_of_others(kernel(x, x)) + _mean_of_others(kernel(y, y)) - 2 * float(kernel(x, y).mean())


def median_distance(points: ArrayLike) -> float:
    """The median Euclidean distance between two different rows of [N, D]: the usual choice of σ."""
    rows = np.asarray(points, np.float64)
    return float(np.sqrt(np.median(_squared_distances(rows, rows)[np.triu_indices(len(rows), 1)])))


def _mean_of_others(values: Matrix) -> float:
    """Mean of [N, N] without its diagonal."""
    count = len(values)
    return float((values.sum() - np.trace(values)) / (count * (count - 1)))


def _squared_distances(x: Matrix, y: Matrix) -> Matrix:
    """[A, B] from [A, D] and [B, D]."""
    squares: Matrix = np.square(x).sum(1)[:, None] + np.square(y).sum(1)[None, :] - 2 * x @ y.T
    return np.maximum(squares, 0.0, dtype=np.float64)
