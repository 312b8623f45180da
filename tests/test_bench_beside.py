"""`scripts/bench_beside.py`: the flows of both simulators are the same, and their completion times are of one kind."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from types import ModuleType

ROOT = Path(__file__).parents[1]
#: Instead of htsim: every flow of the matrix completes after as many us as it has a number, as htsim prints it.
FAKE = r"""#!/bin/sh
sed -n 's/^\([0-9]*\)->\([0-9]*\) id \([0-9]*\) .*/Flow Uec_\1_\2 flowId 9\3 uecSrc 0 finished at \3.5 total/p' "$2"
"""


@pytest.fixture(scope="module")
def beside() -> ModuleType:
    sys.path.insert(0, str(ROOT / "scripts"))
    place = importlib.util.spec_from_file_location("bench_beside", ROOT / "scripts" / "bench_beside.py")
    assert place is not None
    assert place.loader is not None
    script = importlib.util.module_from_spec(place)
    # A dataclass looks its module up.
    sys.modules["bench_beside"] = script
    place.loader.exec_module(script)
    sys.path.remove(str(ROOT / "scripts"))
    return script


def test_flows_are_what_they_are_named_after(beside: ModuleType) -> None:
    permutation, exchange, incast = (beside.CASES[name].pairs for name in ("permutation", "all-to-all", "incast"))
    for ends in zip(*permutation, strict=True):
        assert sorted(ends) == list(range(1024))
    assert not [flow for flow in permutation if flow[0] == flow[1]]
    assert sorted(exchange) == [(a, b) for a in range(128) for b in range(128) if a != b]
    assert len({a for a, _ in incast} - {0}) == 32
    assert {b for _, b in incast} == {0}
    assert beside.matrix(beside.CASES["incast"]).splitlines()[:3] == [
        "Nodes 1024",
        "Connections 32",
        "31->0 id 1 start 0 size 262144",
    ]


def test_an_acknowledgement_takes_the_links_of_the_way_back(beside: ModuleType) -> None:
    assert beside.back_us((0, 7)) == pytest.approx(2 * 1.00128)
    assert beside.back_us((8, 7)) == pytest.approx(4 * 1.00128)
    assert beside.back_us((63, 64)) == pytest.approx(6 * 1.00128)


def test_both_simulators_run_on_the_same_flows(beside: ModuleType, tmp_path: Path) -> None:
    program = tmp_path / "htsim"
    program.write_text(FAKE)
    program.chmod(0o755)
    loads: list[float] = []
    rows = beside._rows(beside.CASES["incast"], program, 1, loads)
    cells = [[cell.strip() for cell in row.strip("|").split("|")] for row in rows]
    assert [row[1] for row in cells] == ["htsim, `nscc`", "Odonata, `nscc`", "Odonata, `none`"]
    assert cells[0][4:] == ["32.5 us", "17.0 us", "1.000, 1.000"]
    assert len(loads) == 3
    # The link to the node carries 2,048 packets of 4,160 B at 50 GB/s. The way of the first one to it has four links or
    # six, and so has that of the last acknowledgement.
    link_us = 2048 * 4160 / 50e3
    for row in cells[1:]:
        last = float(row[4].split()[0])
        assert link_us + 8 <= last <= 1.1 * link_us + 12
        assert float(row[6].split(",")[0]) == pytest.approx(last / 32.5, rel=1e-2)


def test_flows_that_differ_are_no_comparison(beside: ModuleType) -> None:
    with pytest.raises(ValueError, match="1 flows completed here, and 2 in htsim"):
        beside.compared({(0, 1): 1.0}, {(0, 1): 1.0, (1, 0): 2.0})
    assert beside.compared({(0, 1): 3.0, (1, 0): 1.0}, {(0, 1): 2.0, (1, 0): 2.0}) == (1.5, 1.0)
