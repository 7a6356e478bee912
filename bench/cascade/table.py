"""The report for people: what one needs to know, on one screen."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from bench.cascade.report import Distances, Range, Report

_BUSY = 1.5
"""Wall over CPU time of a stage on one thread, above which something else had the processor."""


def show(report: Report, console: Console) -> None:
    """Print it."""
    for table in (_policies(report), _paired(report), _groups(report)):
        console.print(table)
    grid = Table.grid(padding=(0, 2))
    for name, said in _notes(report).items():
        grid.add_row(name, said)
    console.print(grid, highlight=False)


def _policies(report: Report) -> Table:
    shipped = report.shipped
    title = f"{shipped.prompts} held-out prompts, model {shipped.model}, threshold {shipped.threshold:.3f}"
    table = _table(title, ("policy", "all right", "share right", "GPU-ms a picture", "climbs"))
    for name, row in report.policies.items():
        table.add_row(
            name,
            _share(row.accuracy, row.accuracy_interval),
            _share(row.graded, row.graded_interval),
            _milliseconds(row.gpu_ms, row.gpu_ms_interval),
            _bare(row.deferral_rate),
            style="bold" if name == "cascade" else None,
        )
    return table


def _paired(report: Report) -> Table:
    table = _table(
        "the cascade minus another, on the same prompts", ("other", "all right", "share right", "GPU-ms a picture")
    )
    for name, row in report.paired.items():
        table.add_row(
            name.removeprefix("cascade_minus_"),
            _difference(row.accuracy, row.accuracy_interval),
            _difference(row.graded, row.graded_interval),
            _milliseconds(row.gpu_ms, row.gpu_ms_interval),
        )
    return table


def _groups(report: Report) -> Table:
    table = _table("all right", ("prompts", "", "light", "heavy", "cascade", "climbs"))
    groups = [(str(level), group) for level, group in report.per_difficulty.items()]
    for name, group in [*groups, ("novel", report.novel)]:
        shares = (_share(row.accuracy, row.accuracy_interval) for row in group.policies.values())
        table.add_row(name, str(group.prompts), *shares, _bare(group.policies["cascade"].deferral_rate))
    return table


def _notes(report: Report) -> dict[str, str]:
    """What is no table, by what it is."""
    return {
        "gain share": _gain_share(report),
        "deferral area": ", ".join(
            f"{name} {_share(area.accuracy, area.accuracy_interval)}" for name, area in report.areas.items()
        ),
        "calibration error": _calibration(report),
        "GPU-ms": _stages(report),
        "distances": _spaces(report),
        "costs": "random and both oracles pay no discriminator; what the router sends up skips the light model",
        "seeds": _flat(report.seeds),
        "weights": _flat({name: digest.rpartition(":")[2][:12] for name, digest in report.versions.items()}),
        "machine": _flat(report.machine),
    }


def _gain_share(report: Report) -> str:
    strict = _maybe(report.oracle_gain_share, report.oracle_gain_share_interval)
    graded = _maybe(report.oracle_gain_share_graded, report.oracle_gain_share_graded_interval)
    return f"{strict}, graded {graded}: (cascade − random) / (oracle of the light picture − random)"


def _calibration(report: Report) -> str:
    strict = _share(report.ece, report.ece_interval)
    graded = _share(report.ece_graded, report.ece_graded_interval)
    trained = f"; trained on: {report.shipped.judge}" if report.shipped.judge else ""
    return f"{strict} of “heavy right, light not”, {graded} of “share better by {report.shipped.margin:g}”{trained}"


def _stages(report: Report) -> str:
    took = (
        f"{name} {stage.gpu_mean:.1f}, median {stage.gpu_median:.1f} (CPU {stage.cpu_median:.1f})"
        for name, stage in report.stages.items()
    )
    said = f"{'; '.join(took)}; the discriminator takes {report.discriminator_share_of_light:.0%} of the light stage"
    light = report.stages["light"]
    busy = light.gpu_median > _BUSY * light.cpu_median
    return f"{said}. The machine was busy with other things: read the ratios" if busy else said


def _spaces(report: Report) -> str:
    space = report.distribution
    named = {"light": space.light, "heavy": space.heavy, "cascade": space.cascade, "true pictures": space.renders}
    units = f"CMMD·10³ σ = {space.sigma:g} / σ = {space.sigma_median:.2f} / KID·10⁶ from {space.prompts} true pictures"
    return f"{', '.join(f'{name} {_distances(each)}' for name, each in named.items())}: {units}"


def _table(title: str, columns: tuple[str, ...]) -> Table:
    table = Table(title=f"{title}, 95 % intervals", title_justify="left", box=SIMPLE_HEAD, pad_edge=False)
    for number, column in enumerate(columns):
        table.add_column(column, justify="right" if number else "left", no_wrap=True)
    return table


def _share(value: float, interval: Range) -> str:
    return f"{_bare(value)} [{_bare(interval[0])} {_bare(interval[1])}]"


def _difference(value: float, interval: Range) -> str:
    return f"{_bare(value, '+')} [{_bare(interval[0], '+')} {_bare(interval[1], '+')}]"


def _bare(value: float, sign: str = "-") -> str:
    """Three decimals without the zero before the point."""
    return f"{value:{sign}.3f}".replace("0.", ".", 1) if abs(value) < 1 else f"{value:{sign}.2f}"


def _milliseconds(value: float, interval: Range) -> str:
    digits = 0 if max(abs(bound) for bound in interval) >= 100 else 1  # noqa: PLR2004 - three figures are enough
    return f"{value:.{digits}f} [{interval[0]:.{digits}f} {interval[1]:.{digits}f}]"


def _maybe(value: float | None, interval: Range | None) -> str:
    return "undefined" if value is None or interval is None else f"{value:.2f} [{interval[0]:.2f} {interval[1]:.2f}]"


def _distances(each: Distances) -> str:
    return f"{each.cmmd * 1e3:.3f}/{each.cmmd_median * 1e3:.2f}/{each.kid * 1e6:.1f}"


def _flat(values: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} {value}" for name, value in values.items())
