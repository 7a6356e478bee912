"""The trade as a picture: how many pictures are all right for how many GPU-milliseconds, at every threshold."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from bench.cascade.policies import Outcomes, escalating, worth
from bench.cascade.report import Figures, Report
from bench.cascade.reporting import Measured
from bench.cascade.seeing import outcomes_of

_SIZE = (9.0, 5.4)
_DPI = 140
_RATES = np.linspace(0, 1, 201)
_INK, _FAINT = "#27272a", "#d4d4d8"


@dataclass(frozen=True, slots=True)
class _Line:
    """How a policy's curve is drawn."""

    label: str
    colour: str
    style: str = "-"
    width: float = 1.4


_LINES = {
    "gain_oracle": _Line("oracle of both pictures", "#71717a", ":"),
    "oracle": _Line("oracle of the light picture", "#71717a", "--"),
    "cascade": _Line("cascade, every threshold", "#0072b2", width=2.6),
    "router": _Line("prompt-only router", "#009e73"),
    "real_fake": _Line("real-or-fake head", "#d55e00"),
    "cosine": _Line("CLIP cosine", "#cc79a7"),
    "random": _Line("random escalation", "#a1a1aa", "-."),
}
"""From the top of the picture to its bottom; colours are Okabe and Ito's, which most eyes tell apart."""


def draw_plot(measured: Measured, report: Report, path: Path) -> None:
    """Write the plot; the file's ending says in which format.

    Raises:
        OSError: the file can't be written.
        ValueError: there is no such format.
    """
    figure = Figure(figsize=_SIZE, dpi=_DPI, layout="constrained")
    axes = figure.add_subplot()
    _curves(axes, outcomes_of(measured.seen))
    _point(axes, report.policies["light"], "light only", marked=False)
    _point(axes, report.policies["heavy"], "heavy only", marked=False)
    _point(axes, report.policies["cascade"], "as shipped", marked=True)
    _dress(axes, report)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path)


def _curves(axes: Axes, outcomes: Outcomes) -> None:
    """Each policy from nobody climbs to everybody does."""
    steps = [escalating(outcomes, float(rate)) for rate in _RATES]
    for name, line in _LINES.items():
        points = [worth(outcomes, step[name]) for step in steps]
        axes.plot(
            [point.gpu_ms for point in points],
            [100 * point.accuracy for point in points],
            color=line.colour,
            linestyle=line.style,
            linewidth=line.width,
            label=line.label,
            zorder=3 if name == "cascade" else 2,
        )


def _point(axes: Axes, row: Figures, title: str, *, marked: bool) -> None:
    """A policy that is one point, with its interval, and its name beside it."""
    accuracy, (low, high) = 100 * row.accuracy, (100 * bound for bound in row.accuracy_interval)
    axes.errorbar(
        row.gpu_ms,
        accuracy,
        yerr=[[max(0.0, accuracy - low)], [max(0.0, high - accuracy)]],
        color=_LINES["cascade"].colour if marked else _INK,
        marker="o",
        markersize=8 if marked else 6,
        capsize=3,
        linestyle="none",
        zorder=4,
    )
    text = f"{title}\n{accuracy:.1f} % for {row.gpu_ms:.0f} ms"
    axes.annotate(
        text,
        (row.gpu_ms, accuracy),
        xytext=(10, -6),
        textcoords="offset points",
        va="top",
        color=_INK,
        fontsize=9,
        fontweight="bold" if marked else "normal",
        bbox={"boxstyle": "round,pad=0.2", "facecolor": "white", "edgecolor": "none", "alpha": 0.75},
        zorder=5,
    )


def _dress(axes: Axes, report: Report) -> None:
    shipped = report.shipped
    axes.set_title(
        f"What a GPU-millisecond buys: {shipped.prompts} held-out prompts, read by the oracle",
        loc="left",
        color=_INK,
        fontsize=12,
    )
    axes.set_xlabel("GPU-milliseconds a picture", color=_INK)
    axes.set_ylabel("pictures in which all is right, %", color=_INK)
    axes.set_xlim(left=0)
    axes.margins(x=0.08)
    axes.grid(color=_FAINT, linewidth=0.6)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(loc="lower right", fontsize=9, frameon=True, framealpha=0.9, edgecolor="none")
