"""De Sensi 2019, figure 4: an all-to-all on one node."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from odonata.plot.style import save
from odonata.reproduce import find
from odonata.reproduce.desensi2019 import one_node

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from odonata.reproduce.reproduction import Runs

STUDY = find("desensi2019-fig4")


def made(*, varies: bool) -> list[dict[str, Any]]:
    """Runs of the full form that vary with any noise, or that use the network and never vary."""
    spread = 0.1 if varies else 0.0
    wave = np.linspace(-1, 1, 20)
    return [
        {**point, "times_ps": (1e6 * (1 + spread * wave)).tolist(), "requests": 0 if varies else 7}
        for point in STUDY.points(False)
    ]


def test_times_on_one_node_vary_with_noise_only_and_nothing_uses_the_network(reduced: Callable[[str], Runs]) -> None:
    runs = reduced("desensi2019-fig4")
    assert {run["requests"] for run in runs} == {0}
    for run in runs:
        assert len(run["times_ps"]) == run["iterations"] - 1
        assert (one_node.dispersion(run) > 0) == (run["noise"] != one_node.SILENT)


def test_the_processes_share_one_node() -> None:
    for point in STUDY.points(False):
        (job,) = STUDY.make(point).resolve().spec["jobs"]
        assert job["nodes"] == [0] * one_node.RANKS


def test_dispersion_by_hand() -> None:
    assert one_node.dispersion({"times_ps": [1.0, 2.0, 3.0, 4.0, 5.0]}) == pytest.approx(100 * (4 - 2) / (4 + 2))


@pytest.mark.parametrize("varies", [True, False])
def test_rows(varies: bool) -> None:
    network, silent, *noisy = STUDY.rows(made(varies=varies))
    assert network.verdict == silent.verdict == ("direction" if varies else "no match")
    assert {row.verdict for row in noisy} == {"not comparable"}, "the noise is assumed"


def test_page_and_picture(tmp_path: Path) -> None:
    runs = made(varies=True)
    rows = STUDY.rows(runs)
    page = STUDY.page(rows, runs)
    assert "$" not in page
    assert max(map(len, (line for line in page.splitlines() if not line.startswith("|")))) <= 120
    assert all(row.what in page for row in rows)
    assert STUDY.picture is not None
    save(STUDY.picture(rows, runs), tmp_path / "picture.png")
    assert (tmp_path / "picture.png").stat().st_size > 10_000
