"""Costs of the host on LUMI and Leonardo: the data, the verdicts, and the page of runs made by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

from odonata.calibration.calibrate import Calibration
from odonata.calibration.fit import NAMES, Fitted
from odonata.calibration.measurements import Configuration, read
from odonata.reproduce import find
from odonata.reproduce.calibration.machines import MACHINES, Agreement, Measured, preset_costs, table

if TYPE_CHECKING:
    from odonata.reproduce.reproduction import Runs


def test_the_data_are_what_the_readme_says() -> None:
    rows = table()
    assert rows.null_count().sum_horizontal().item() == 0
    assert set(rows["machine"]) == {"lumi", "leonardo"}
    for above, most in ((0, 4 << 20), (64, 1 << 20), (254, 128 << 10)):
        assert rows.filter(pl.col("nodes") > above)["bytes"].max() <= most
    assert rows["nodes"].max() == 512
    # All can be simulated, and both machines have runs to fit and runs to hold out.
    for of in MACHINES:
        measurements = read(rows.filter(machine=of.system).drop("machine"), bytes_are="whole")
        assert measurements.left_out == {}
        assert sum(row.configuration.nodes <= of.fit_nodes for row in measurements.rows) >= 59
        assert sum(row.configuration.nodes > of.fit_nodes for row in measurements.rows) >= 20


def agreement(number: int, error: float) -> Agreement:
    """Rings on two small allocations and a larger one, whose simulated times are wrong by so much under our costs."""
    of = MACHINES[number]
    rows = []
    for nodes in (of.fit_nodes // 2, of.fit_nodes, 2 * of.fit_nodes):
        for size in (32, 4096):
            part = "held out" if nodes > of.fit_nodes else "fitted"
            time = 2e6 * (nodes - 1) * (1 if size == 32 else 3)
            times: Any = {"fitted here": time * (1 + error), "preset": time * (1 - error), "zhang2018": time / 2}
            rows.append(Measured(Configuration("allgather", "ring", nodes, 1, size), time, part, times))
    intervals = dict.fromkeys(NAMES, (100e3, 200e3))
    fitted = Fitted(preset_costs(of.system), intervals, ["call"], [("send", "receive", -0.99)], {256: 1.0, 1024: 2.0})
    return Agreement(of, rows, Calibration(of.system, "medians.csv", fitted, [], {}, {}))


@pytest.fixture(scope="module")
def runs() -> Runs:
    return [{"agreement": agreement(0, 0.2)}, {"agreement": agreement(1, 0.3)}]


def test_the_goal_is_a_quarter(runs: Runs) -> None:
    rows = find("calibration").rows(runs)
    goals = {(row.model, row.what): row for row in rows if row.id == "goal"}
    assert len(goals) == 8
    for (model, what), row in goals.items():
        assert row.ours == pytest.approx(20 if model == "LUMI" else 30), what
        agrees = "not comparable" if what.startswith("fitted") else "direction"  # fitted values count for nothing
        assert row.verdict == (agrees if model == "LUMI" else "no match")
    assert [row.ours for row in rows if row.id == "order"] == pytest.approx([0.4, 0.6])


def test_the_page_and_the_picture(runs: Runs) -> None:
    reproduction = find("calibration")
    rows = reproduction.rows(runs)
    page = reproduction.page(rows, runs)
    assert "`calibration`: Odonata " in page
    assert "$" not in page
    assert max(len(line) for line in page.splitlines() if not line.startswith(("|", "- **", "  "))) <= 120
    assert "| LUMI | 4 medians, 8 to 16 nodes; 4 within 25 % | 2 medians, 32 nodes; 2 within 25 % |" in page
    assert "| fitted here | 20.0 % | 20.0 % | 30.0 % | 30.0 % |" in page
    assert "| allgather | 2.00 us | 2.00 us | 2.00 us |" in page
    assert "| Leonardo | allgather, `ring` | 128 | 2 | 30.0 % | +30.0 % | 30.0 % |" in page
    assert "do not tell `send` and `receive` apart, and hardly determine `call`" in page
    picture = reproduction.picture
    assert picture is not None
    assert [axes.get_title() for axes in picture(rows, runs).axes] == ["LUMI", "Leonardo"]


def test_the_costs_of_the_presets_are_better_than_those_before() -> None:
    """Small messages on few nodes, simulated (2 s: machines of 3,000 nodes)."""
    reproduction = find("calibration")
    assert reproduction.gather is not None
    of_machine = {row.model: row for row in reproduction.rows(reproduction.gather(True, 1)) if row.id == "order"}
    assert {row.verdict for row in of_machine.values()} == {"direction"}
    assert of_machine["LUMI"].ours < 0.7
