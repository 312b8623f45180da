"""The measured medians of each machine beside their simulation, under several costs of the host."""

from __future__ import annotations

import io
from dataclasses import dataclass
from importlib.resources import files
from statistics import median
from typing import TYPE_CHECKING, Literal, NamedTuple

import polars as pl

from odonata import machine
from odonata.calibration import Calibration, calibrate, measurements
from odonata.calibration.simulated import Simulator

if TYPE_CHECKING:
    from collections.abc import Sequence

    from odonata.calibration.calibrate import Part
    from odonata.calibration.measurements import Configuration
    from odonata.machine.host import HostTable
    from odonata.reproduce.reproduction import Runs

    Costs = Literal["fitted here", "preset", "zhang2018"]

ZHANG = "zhang2018-272"
"""A preset with the costs of the simulator of Zhang 2018."""
SMALL = {"most_bytes": 2048, "most_nodes": 128}
"""Most bytes and nodes of the reduced form."""


class Of(NamedTuple):
    """A machine."""

    name: str
    system: str
    """Its preset, and how `medians.csv` calls it."""
    fit_nodes: int
    """Most nodes of the runs that are fitted."""


MACHINES = (Of("LUMI", "lumi", 16), Of("Leonardo", "leonardo", 64))


@dataclass(frozen=True)
class Measured:
    """A measured median beside its simulated times."""

    of: Configuration
    measured_ps: float
    part: Part
    simulated_ps: dict[Costs, float]

    def error(self, costs: Costs) -> float:
        """Simulated time by measured time, less 1."""
        return self.simulated_ps[costs] / self.measured_ps - 1


@dataclass(frozen=True)
class Agreement:
    """All medians of a machine."""

    of: Of
    rows: list[Measured]
    calibration: Calibration | None
    """The fit; `None` in the reduced form, which compares other costs only."""

    def errors(self, part: Part, costs: Costs) -> list[float]:
        """Signed errors of a part."""
        return [row.error(costs) for row in self.rows if row.part == part]

    def median_error(self, part: Part, costs: Costs) -> float:
        """Median absolute error of a part, as a share."""
        return median(map(abs, self.errors(part, costs)))

    @property
    def costs(self) -> list[Costs]:
        """The costs that were simulated."""
        return list(self.rows[0].simulated_ps)


def table() -> pl.DataFrame:
    """The medians (README.md)."""
    return pl.read_csv(io.BytesIO((files(__package__) / "medians.csv").read_bytes()))


def preset_costs(system: str) -> HostTable:
    """The costs of a preset."""
    host = machine.load(system).table.host
    assert host is not None
    return host


def gather(reduced: bool, workers: int) -> Runs:
    """Both machines; in the reduced form without the fit, and small messages on few nodes only."""
    return [{"agreement": _agreement(of, reduced, workers)} for of in MACHINES]


def agreements(runs: Runs) -> list[Agreement]:
    """What `gather` found."""
    return [run["agreement"] for run in runs]


def _agreement(of: Of, reduced: bool, workers: int) -> Agreement:
    rows = table().filter(machine=of.system).drop("machine")
    fit: Calibration | None = None
    medians: list[tuple[Configuration, float, Part]]
    if reduced:
        rows = rows.filter(pl.col("bytes") <= SMALL["most_bytes"], pl.col("nodes") <= SMALL["most_nodes"])
        read = measurements.read(rows, bytes_are="whole").rows
        medians = [
            (
                row.configuration,
                row.time_ps,
                "fitted" if row.configuration.nodes <= of.fit_nodes else "held out",
            )
            for row in read
        ]
    else:
        fit = calibrate(rows, of.system, bytes_are="whole", fit_nodes=of.fit_nodes, workers=workers)
        medians = [(row.configuration, row.measured_ps, row.part) for row in fit.rows]
    simulator = Simulator(of.system, workers)
    times: dict[Costs, Sequence[float]] = {}
    if fit is not None:
        times["fitted here"] = [row.simulated_ps for row in fit.rows]
    for costs, system in (("preset", of.system), ("zhang2018", ZHANG)):
        host = preset_costs(system)
        times[costs] = simulator.times([(measured[0], host) for measured in medians])  # type: ignore[index]
    return Agreement(
        of,
        [Measured(*measured, {name: many[at] for name, many in times.items()}) for at, measured in enumerate(medians)],
        fit,
    )
