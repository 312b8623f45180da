"""Skeletons of applications: which messages an iteration has, by hand, and `docs/skeletons.md`."""

from collections import Counter
from pathlib import Path

import pytest

from odonata.errors import InputError
from odonata.scenario import parse
from odonata.scenario.apps.listed import SKELETONS
from odonata.scenario.apps.skeletons.lammps import ghosts
from odonata.scenario.apps.skeletons.wrf import exchanges

PAGE = (Path(__file__).parents[2] / "docs" / "skeletons.md").read_text(encoding="utf-8")
SUM = {"name": "allreduce", "algorithm": "recursive-doubling", "bytes": 8}


def whats(app, nodes=8):
    text = f'system = "zhang2018-272"\n[[job]]\nname = "a"\nnodes = {nodes}\napp = {{ {app} }}\n'
    phases = parse(text, "s.toml").resolve().spec["jobs"][0]["program"]["body"]["phases"]
    return [phase["what"] for phase in phases]


def bytes_of(what):
    """Of a rank that has all neighbours."""
    if what["name"] == "matrix":
        return sum(size for rank, _, size, _ in what["pairs"] if rank == 0)
    return 2 * sum(what["face_bytes"]) + 4 * sum(what["edge_bytes"]) + 8 * what["corner_bytes"]


def test_hpcg_has_a_v_cycle_and_three_sums():
    """Faces of 16 x 16, 8 x 8, 4 x 4 and 2 x 2 values of 8 B."""
    what = whats('motif = "hpcg", cells = [16, 16, 16]')
    edges = [None if one == SUM else one["edge_bytes"][0] // 8 for one in what]
    assert edges == [16, 16, 8, 8, 4, 4, 2, 4, 8, 16, None, 16, None, None]
    finest = what[0]
    assert finest["face_bytes"] == [2048] * 3
    assert (finest["corner_bytes"], finest["grid"], finest["periodic"]) == (8, [2, 2, 2], False)
    uneven = whats('motif = "hpcg", cells = [8, 16, 24]')[0]
    assert (uneven["face_bytes"], uneven["edge_bytes"]) == ([3072, 1536, 1024], [64, 128, 192])


def test_lammps_sends_positions_out_and_forces_back():
    """The reach of 2.8 is 1.667 cells: 4 x 400 x 1.667 atoms of 24 B along x, then with the ghosts of x, and of y."""
    what = whats('motif = "lammps"')
    sent = [one["face_bytes"] for one in what]
    assert sent == [[64032, 0, 0], [0, 74688, 0], [0, 0, 87144], [0, 0, 87144], [0, 74688, 0], [64032, 0, 0]]
    assert all(one["periodic"] and one["order"] == "axis-by-axis" for one in what)


def test_lammps_has_nearly_the_ghosts_of_its_log():
    """19,657 in the log of in.lj on one process."""
    assert 2 * sum(ghosts((20, 20, 20), axis) for axis in range(3)) == pytest.approx(19_657, rel=0.05)


def test_milc_sends_to_eight_neighbours_of_a_torus():
    """On 3 x 2 x 1 x 1 ranks of 4^4 sites, 4 layers of 32 sites of one parity with 24 B go to each neighbour; both
    neighbours along the axis of two ranks are the same rank."""
    what = whats('motif = "milc", sites = [4, 4, 4, 4], grid = [3, 2, 1, 1]', 6)
    assert what[0] == what[1]
    assert what[2:] == [SUM, SUM]
    assert [pair for pair in what[0]["pairs"] if pair[0] == 0] == [[0, 1, 3072, 2], [0, 2, 3072, 2], [0, 3, 6144, 4]]
    assert [pair for pair in what[0]["pairs"] if pair[0] == 5] == [[5, 2, 6144, 4], [5, 3, 3072, 2], [5, 4, 3072, 2]]
    double = whats('motif = "milc", width = 8, sites = [3, 3, 3, 8], grid = [2, 1, 2, 2]')[0]
    assert Counter(size for rank, _, size, _ in double["pairs"] if rank == 0) == {13_824: 2, 5_376: 1}


def test_a_communicator_of_one_rank_sends_nothing():
    alone = "along = { grid = [8, 1], axis = 1 }"
    phases = f'motif = "phases", phases = [{{ motif = "milc", compute = "1 us", {alone} }}]'
    assert [what["name"] for what in whats(phases)] == ["compute", "compute", "allreduce", "allreduce"]


def test_nekbone_shares_points():
    """2 elements of 8 points have 15 along an edge, 3 of them 22, one 8."""
    what = whats('motif = "nekbone", elements = [2, 3, 1]')
    assert [one == SUM for one in what] == [True, False, True, True]
    assert what[1]["face_bytes"] == [22 * 8 * 8, 15 * 8 * 8, 15 * 22 * 8]
    assert (what[1]["edge_bytes"], what[1]["corner_bytes"]) == ([120, 176, 64], 8)
    assert whats('motif = "nekbone", elements = [1, 1, 1], points = 10')[1]["corner_bytes"] == 8


def test_wrf_exchanges_37_times():
    """1, 2 and 4 acoustic steps of two exchanges; with 6, the second stage has 3."""
    names = Counter(exchanges(4))
    assert (sum(names.values()), names["C"], names["C2"], names["A"]) == (37, 8, 7, 3)
    assert Counter(exchanges(6))["C2"] == 10
    assert list(exchanges(4))[:8] == ["A", "PHYS_A", "TKE_C", "TKE_D", "TKE_E", "PHYS_DIFFUSION", "B", "C"]


def test_wrf_sends_along_y_first_and_then_along_x_with_the_corners():
    """The first halo, A: eight fields of 10 levels and three flat ones, one deep, 4 B each."""
    what = whats('motif = "wrf", cells = [20, 30, 10], grid = [4, 2]')
    assert len(what) == 74
    assert what[0]["face_bytes"] == [0, 20 * 83 * 4, 0]
    assert what[1]["face_bytes"] == [32 * 83 * 4, 0, 0]
    assert what[0]["grid"] == [4, 2, 1]
    # The last one: the species, three deep.
    assert whats('motif = "wrf", cells = [20, 30, 10], species = 2')[-1]["face_bytes"] == [3 * 36 * 20 * 4, 0, 0]


def test_computing_comes_before_each_exchange():
    names = {name: [what["name"] for what in whats(f'motif = "{name}", compute = "1 us"')] for name in SKELETONS}
    assert {name: of.count("compute") for name, of in names.items()} == {
        "hpcg": 11, "lammps": 2, "milc": 2, "nekbone": 1, "wrf": 37,
    }  # fmt: skip
    assert names["milc"][:3] == ["compute", "matrix", "compute"]


@pytest.mark.parametrize(
    ("app", "found", "hint"),
    [
        ('motif = "hpcg", cells = [12, 16, 16]', "12 x 16 x 16 cells cannot be halved 3 times", "multiples of 8"),
        ('motif = "lammps", cells = [1, 20, 20]', "1 x 20 x 20 cells would need atoms", "2 cells or more"),
        ('motif = "milc", sites = [2, 9, 9, 9]', "2 x 9 x 9 x 9 sites would need sites", "3 sites or more"),
        ('motif = "milc", grid = [2, 2, 2, 2]', "16 points for 8 ranks", "2 x 2 x 2 x 1 would fit"),
        (
            'motif = "wrf", sound = 10_000_000',
            "1,000 acoustic steps at most, found 10,000,000",
            "sound = 1000, or less",
        ),
        ('motif = "wrf", sound = 3', "even number of acoustic steps, found 3", "sound = 4"),
        ('motif = "wrf", cells = [3, 30, 10]', "3 x 30 columns would need columns", "4 columns or more"),
    ],
)
def test_what_cannot_be_divided_is_refused(app, found, hint):
    with pytest.raises(InputError, match=found) as caught:
        whats(app)
    assert hint in caught.value.hint


def test_the_table_of_the_page_is_that_of_the_code():
    rows = PAGE.split("bytes of a rank inside the grid |\n", 1)[1].split("\n\n")[0].splitlines()[1:]
    for row, name in zip(rows, SKELETONS, strict=True):
        what = whats(f'motif = "{name}"', 256)
        exchanged = [one for one in what if one != SUM]
        count = len(exchanged) // 2 if name == "wrf" else len(exchanged)
        cells = row.strip("|").split("|")
        assert [cell.strip() for cell in (cells[0], *cells[2:])] == [
            f"`{name}`", str(count), str(len(what) - len(exchanged)), f"{sum(map(bytes_of, exchanged)):,} B",
        ]  # fmt: skip


def test_the_example_of_the_page_resolves():
    text = PAGE.split("```toml\n")[1].split("```")[0]
    job = parse('system = "zhang2018-272"\n' + text, "s.toml").resolve().spec["jobs"][0]
    assert len(job["program"]["body"]["phases"]) == 6
