"""`calibration`: costs of the host fitted to small runs on LUMI and Leonardo, its page and picture."""

from __future__ import annotations

from collections import defaultdict
from importlib.resources import files
from statistics import median
from textwrap import fill
from typing import TYPE_CHECKING

from odonata.calibration.fit import NAMES
from odonata.plot.style import figure, settings
from odonata.reproduce.calibration.machines import Agreement, agreements, gather, preset_costs
from odonata.reproduce.markdown import reasons, side_by_side, table
from odonata.reproduce.page import Page
from odonata.reproduce.reproduction import Reproduction
from odonata.reproduce.rows import statement

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from odonata.calibration.calibrate import Part
    from odonata.reproduce.calibration.machines import Costs
    from odonata.reproduce.page import Texts
    from odonata.reproduce.reproduction import Runs
    from odonata.reproduce.rows import Row

GOAL = 25.0
"""Most per cent of median absolute error on larger runs: set before the first fit."""
PARTS: tuple[Part, ...] = ("fitted", "held out")
RING_STEPS = {"allreduce": 2, "allgather": 1, "reduce-scatter": 1}
"""Steps of a ring over the number of ranks less 1."""


def _rows(runs: Runs) -> list[Row]:
    rows = []
    for agreement in agreements(runs):
        for part in PARTS:
            for costs in agreement.costs:
                if costs == "zhang2018":
                    continue
                rows.append(
                    statement(
                        "goal",
                        f"{part}, costs {costs}: median absolute error",
                        100 * agreement.median_error(part, costs),
                        GOAL,
                        "%",
                        f"<= {GOAL:g}",
                        "held-out runs" if part == "held out" else "fitted runs",
                        model=agreement.of.name,
                        kind="F" if part == "fitted" else "R",
                    )
                )
        least = min(agreement.median_error("held out", costs) for costs in agreement.costs if costs != "zhang2018")
        rows.append(
            statement(
                "order",
                "held out: least error over that with the costs of Zhang 2018",
                least / agreement.median_error("held out", "zhang2018"),
                1.0,
                "x",
                "< 1",
                "held-out runs",
                model=agreement.of.name,
            )
        )
    return rows


def _of_rows(rows: Sequence[Row], _: Texts) -> Texts:
    names = list(dict.fromkeys(row.model for row in rows))
    return {
        "goals": side_by_side(rows, names),
        "reasons": reasons(rows),
    }


def _of_runs(_: Sequence[Row], runs: Runs) -> Texts:
    compared = agreements(runs)
    columns = [f"{agreement.of.name}, {part}" for agreement in compared for part in PARTS]
    return {
        "parts": "\n".join(
            f"| {agreement.of.name} | {_part(agreement, 'fitted')} | {_part(agreement, 'held out')} |"
            for agreement in compared
        ),
        "columns": " | ".join(columns),
        "bars": "|".join("---:" for _ in columns),
        "errors": "\n".join(
            "| "
            + " | ".join(
                [costs, *(_share(agreement.median_error(part, costs)) for agreement in compared for part in PARTS)]
            )
            + " |"
            for costs in compared[0].costs
        ),
        "costs": _costs(compared),
        "undetermined": fill(" ".join(_undetermined(agreement) for agreement in compared), 118, break_on_hyphens=False),
        "collectives": _collectives(compared),
        "steps": _steps(next(agreement for agreement in compared if agreement.of.system == "leonardo")),
    }


def _part(agreement: Agreement, part: Part) -> str:
    nodes = sorted({row.of.nodes for row in agreement.rows if row.part == part})
    within = [abs(error) <= GOAL / 100 for error in agreement.errors(part, "fitted here")]
    span = f"{nodes[0]}" if len(nodes) == 1 else f"{nodes[0]} to {nodes[-1]}"
    return f"{len(within)} medians, {span} nodes; {sum(within)} within {GOAL:g} %"


def _share(value: float, *, sign: bool = False) -> str:
    return f"{100 * value:{'+' if sign else ''}.1f} %"


def _costs(compared: Sequence[Agreement]) -> str:
    head, lines = ["cost"], [[f"`{name}`"] for name in (*NAMES[:3], "eager", *NAMES[3:])]
    for agreement in compared:
        assert agreement.calibration is not None
        host, preset = (
            costs.model_dump(mode="json", by_alias=True)
            for costs in (agreement.calibration.host, preset_costs(agreement.of.system))
        )
        head += [f"{agreement.of.name}, fitted here", "95 %", "preset"]
        for line in lines:
            name = line[0].strip("`")
            tried = len(agreement.calibration.fitted.eager)
            interval = f"best of {tried}" if name == "eager" else agreement.calibration.interval(name)
            line += [host[name], interval, preset[name]]
    return table(head, lines, "l" + "rlr" * len(compared))


def _undetermined(agreement: Agreement) -> str:
    assert agreement.calibration is not None
    fitted = agreement.calibration.fitted
    told = [f"`{a}` and `{b}` apart" for a, b, _ in fitted.inseparable]
    said = f"The measurements of {agreement.of.name} do not tell {', '.join(told)}" if told else ""
    weak = ", ".join(f"`{name}`" for name in fitted.undetermined)
    if weak:
        said += (
            f", and hardly determine {weak}"
            if said
            else f"The measurements of {agreement.of.name} hardly determine {weak}"
        )
    return f"{said}." if said else f"The measurements of {agreement.of.name} determine all costs."


def _collectives(compared: Sequence[Agreement]) -> str:
    lines = []
    for agreement in compared:
        groups: defaultdict[tuple[int, str, str], list[tuple[float, float]]] = defaultdict(list)
        for row in agreement.rows:
            if row.part == "held out":
                key = (row.of.nodes, row.of.collective, row.of.algorithm)
                groups[key].append((row.error("fitted here"), row.error("preset")))
        for (nodes, collective, algorithm), errors in sorted(groups.items()):
            ours, preset = zip(*errors, strict=True)
            lines.append(
                [
                    agreement.of.name,
                    f"{collective}, `{algorithm}`",
                    str(nodes),
                    str(len(errors)),
                    _share(median(map(abs, ours))),
                    _share(median(ours), sign=True),
                    _share(median(map(abs, preset))),
                ]
            )
    head = ["machine", "collective, algorithm", "nodes", "n", "median abs. error", "median error", "with the preset"]
    return table(head, lines, "llrrrrr")


def _steps(agreement: Agreement) -> str:
    """Measured time of a step of a ring with the smallest message of each number of nodes."""
    least: dict[tuple[str, int], tuple[int, float]] = {}
    for row in agreement.rows:
        if row.of.algorithm == "ring" and row.of.collective in RING_STEPS:
            steps = RING_STEPS[row.of.collective] * (row.of.nodes * row.of.ranks_per_node - 1)
            key = (row.of.collective, row.of.nodes)
            least[key] = min(least.get(key, (1 << 62, 0.0)), (row.of.bytes, row.measured_ps / steps))
    nodes = sorted({number for _, number in least})
    lines = [
        [name, *(f"{least[name, n][1] / 1e6:.2f} us" if (name, n) in least else "" for n in nodes)]
        for name in sorted({name for name, _ in least})
    ]
    return table(["step of a ring", *(f"{n} nodes" for n in nodes)], lines, "l" + "r" * len(nodes))


def draw(_: Sequence[Row], runs: Runs) -> Figure:
    """Simulated against measured medians, under the costs that were fitted."""
    compared = agreements(runs)
    with settings():
        made = figure(9, 4.2)
        for axes, agreement in zip(made.subplots(1, len(compared)), compared, strict=True):
            _draw(axes, agreement, "fitted here")
    return made


def _draw(axes: Axes, agreement: Agreement, costs: Costs) -> None:
    every = [row.measured_ps / 1e6 for row in agreement.rows]
    ends = [min(every) / 1.5, max(every) * 1.5]
    axes.fill_between(ends, [0.75 * x for x in ends], [1.25 * x for x in ends], color="0.9", label="within 25 %")
    for part, colour, marker in (("fitted", "0.45", "o"), ("held out", "#d55e00", "D")):
        rows = [row for row in agreement.rows if row.part == part]
        nodes = sorted({row.of.nodes for row in rows})
        axes.plot(
            [row.measured_ps / 1e6 for row in rows],
            [row.simulated_ps[costs] / 1e6 for row in rows],
            marker,
            color=colour,
            markersize=3.5,
            label=f"{part}, {nodes[0]} to {nodes[-1]} nodes" if len(nodes) > 1 else f"{part}, {nodes[0]} nodes",
        )
    axes.set(
        xscale="log", yscale="log", xlabel="measured median (us)", ylabel="simulated (us)", title=agreement.of.name
    )
    axes.legend()


REPRODUCTION = Reproduction(
    name="calibration",
    title="Costs of the host, fitted to medians of small runs on LUMI and Leonardo, and compared with larger runs",
    points=lambda _: [],
    make=None,
    rows=_rows,
    text=Page(
        lambda: (files("odonata.reproduce.calibration") / "calibration.md").read_text("utf-8"),
        _of_rows,
        _of_runs,
    ),
    picture=draw,
    gather=gather,
)
