"""From measured medians to the costs of a system's host."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any, Literal

from odonata import machine, units
from odonata.calibration import measurements
from odonata.calibration.fit import NAMES, Fitted, fit
from odonata.calibration.simulated import Simulator, control_ps
from odonata.document.writing import text
from odonata.errors import InputError
from odonata.machine import core
from odonata.machine.host import HostTable

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import polars as pl

    from odonata.calibration.measurements import Bytes, Configuration, Measurement

#: Largest vector that is simulated for the fit: larger ones take long. Assumed.
LARGEST = 4 << 20

#: Fewest measurements of a fit. Assumed: twice as many as there are costs.
LEAST = 12

Part = Literal["fitted", "held out"]


@dataclass(frozen=True)
class Compared:
    """A measurement beside its simulation."""

    configuration: Configuration
    measured_ps: float
    simulated_ps: float
    part: Part

    @property
    def error(self) -> float:
        """Simulated time by measured time, less 1."""
        return self.simulated_ps / self.measured_ps - 1


@dataclass(frozen=True)
class Calibration:
    """The costs of a host, fitted to measurements."""

    system: str
    """Name of the system."""
    file: str
    """What was read."""
    fitted: Fitted
    """The costs and their uncertainty."""
    rows: list[Compared]
    """All measurements, with their times under these costs."""
    before: dict[Part, float]
    """Part -> median absolute error under the costs that the system has without calibration."""
    left_out: dict[str, int]
    """Why rows are left out -> how many."""

    @property
    def host(self) -> HostTable:
        """The costs, as `[host]` of a system takes them."""
        return self.fitted.host

    def error(self, part: Part) -> float | None:
        """Median absolute error of a part; None if it is empty.

        Parameters
        ----------
        part
            `fitted` or `held out`.

        Returns
        -------
        float or None
            As a share of the measured time.
        """
        errors = [abs(row.error) for row in self.rows if row.part == part]
        return median(errors) if errors else None

    def frame(self) -> pl.DataFrame:
        """Return a row for each measurement.

        Returns
        -------
        polars.DataFrame
            Configuration, part, measured and simulated time in picoseconds, error.
        """
        import polars as pl

        return pl.DataFrame(
            {
                "part": [row.part for row in self.rows],
                "collective": [row.configuration.collective for row in self.rows],
                "algorithm": [row.configuration.algorithm for row in self.rows],
                "nodes": [row.configuration.nodes for row in self.rows],
                "ranks_per_node": [row.configuration.ranks_per_node for row in self.rows],
                "bytes": [row.configuration.bytes for row in self.rows],
                "measured_ps": [row.measured_ps for row in self.rows],
                "simulated_ps": [row.simulated_ps for row in self.rows],
                "error": [row.error for row in self.rows],
            }
        )

    def toml(self) -> str:
        """Return the file that `host` of a `[system]` names.

        Returns
        -------
        str
            TOML with `[host]`, `[sources]` and `[calibration]`.
        """
        sized = ("by_size", "reduce_by_size")
        costs = {key: value for key, value in self.host.document().items() if key not in sized}
        fitted = [row for row in self.rows if row.part == "fitted"]
        nodes = sorted({row.configuration.nodes for row in fitted})
        span = str(nodes[0]) if len(nodes) == 1 else f"{nodes[0]} to {nodes[-1]}"
        data = f"odonata calibrate {core.version()}, {len(fitted)} medians of {Path(self.file).name} on {span} nodes"
        sources: dict[str, str] = {}
        for key in costs:
            if key == "eager":
                source = f"{data} (confidence: medium)"
            elif key in NAMES:
                sure = "low" if key in self.fitted.undetermined else "medium"
                source = f"{data}; 95 %: {self.interval(key)} (confidence: {sure})"
            else:
                source = "not fitted: as before the calibration (confidence: low)"
            sources[f"host.{key}"] = source
        errors = {part: self.error(part) for part in ("fitted", "held out")}
        known = {
            f"median absolute error, {part}": round(error, 4) for part, error in errors.items() if error is not None
        }
        head = f"# Costs of the host of {self.system}, fitted by odonata calibrate.\n"
        return head + text({"host": costs, "sources": sources, "calibration": {"system": self.system, **known}})

    def interval(self, name: str) -> str:
        """The 95 % interval of a cost as text, in its unit.

        Parameters
        ----------
        name
            One of the costs that are fitted.

        Returns
        -------
        str
        """
        low, high = self.fitted.intervals[name]
        if name in ("copy", "reduce"):
            low, high = high, low
            return f"{units.format_bandwidth(round(1e18 / low), 3)} to {units.format_bandwidth(round(1e18 / high), 3)}"
        return f"{units.format_time(round(low), 3)} to {units.format_time(round(high), 3)}"


def calibrate(
    file: str | Path | pl.DataFrame,
    system: str | Mapping[str, Any],
    *,
    value: str | None = None,
    where: Mapping[str, str] | None = None,
    bytes_are: Bytes = "per-rank",
    largest: int = LARGEST,
    fit_nodes: int | None = None,
    seed: int = 1,
    workers: int = 1,
    report: Callable[[str], None] | None = None,
) -> Calibration:
    """Fits the costs of a system's host to measured medians, by simulating the same collectives.

    Parameters
    ----------
    file
        A table with `collective`, `bytes`, `nodes`, a time such as `median_us`, and if there are several, `algorithm`
        and `ranks_per_node`; or a folder of `odonata cluster probe`.
    system
        The system: a preset, a file or a table.
    value
        Column of the times.
    where
        Column -> value: only the rows with these values.
    bytes_are
        What the bytes of an allgather or an all-to-all count: `per-rank` (as in the OSU benchmarks) or `whole`.
    largest
        Most bytes of a row; larger ones are left out.
    fit_nodes
        Most nodes of the rows that are fitted; the others are held out. Without it, those with the most nodes are held
        out, or every fourth if all have as many.
    seed
        Of the bootstrap.
    workers
        Threads that simulate. The result does not depend on it.
    report
        Called with lines about the progress.

    Returns
    -------
    Calibration

    Raises
    ------
    InputError
        For a table that cannot be read, too few measurements, and jobs that do not fit on the system.
    """
    read = measurements.read(file, value=value, where=where, bytes_are=bytes_are, largest=largest)
    given = dict(system) if not isinstance(system, str) else system
    loaded = machine.load(given)
    usual = loaded.table.host or HostTable()
    shortest = control_ps(given, usual.control)
    possible = [row for row in read.rows if row.time_ps >= shortest]
    left_out = dict(read.left_out)
    if len(possible) < len(read.rows):
        left_out["a shorter time than one message needs"] = len(read.rows) - len(possible)
    fitted_rows, held_out = _split(possible, fit_nodes)
    if len(fitted_rows) < LEAST:
        raise InputError(
            f"{len(fitted_rows)} measurements to fit, expected {LEAST} or more",
            file=None if not isinstance(file, str | Path) else file,
            hint="measure more sizes and collectives, or raise --fit-nodes",
        )
    simulator = Simulator(given, workers)
    fitted = fit(
        fitted_rows,
        simulator,
        usual=usual,
        control_ps=shortest,
        seed=seed,
        report=report,
    )
    parts: list[tuple[Measurement, Part]] = [(row, "fitted") for row in fitted_rows]
    parts += [(row, "held out") for row in held_out]
    if report is not None and held_out:
        report(f"{len(held_out):,} held-out measurements")
    times = simulator.times([(row.configuration, fitted.host) for row, _ in parts])
    old = simulator.times([(row.configuration, usual) for row, _ in parts])
    rows = [
        Compared(row.configuration, row.time_ps, time, part) for (row, part), time in zip(parts, times, strict=True)
    ]
    earlier = [(abs(time / row.time_ps - 1), part) for (row, part), time in zip(parts, old, strict=True)]
    before = {part: median([e for e, of in earlier if of == part]) for part in dict.fromkeys(p for _, p in earlier)}
    name = str(file) if isinstance(file, str | Path) else "a table"
    return Calibration(loaded.name, name, fitted, rows, before, left_out)


def _split(rows: Sequence[Measurement], fit_nodes: int | None) -> tuple[list[Measurement], list[Measurement]]:
    """The measurements to fit, and those that are held out."""
    nodes = sorted({row.configuration.nodes for row in rows})
    if fit_nodes is None and len(nodes) > 1:
        fit_nodes = nodes[-2]
    if fit_nodes is not None:
        return (
            [row for row in rows if row.configuration.nodes <= fit_nodes],
            [row for row in rows if row.configuration.nodes > fit_nodes],
        )
    return [row for at, row in enumerate(rows) if at % 4 != 3], [row for at, row in enumerate(rows) if at % 4 == 3]
