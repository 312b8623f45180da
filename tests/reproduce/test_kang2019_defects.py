"""`kang2019-defects`: which published values depend on which defect of the authors' simulator."""

from odonata.reproduce import find
from odonata.reproduce.kang2019.defects import DEFECTS, REPAIRED, SLOWED, TOGETHER
from odonata.reproduce.kang2019.published import compare, expected, explain
from odonata.reproduce.kang2019.runs import make

MEAN_US = 16.1
"""K30: uniform random traffic, contiguous, every 1 us."""
WHAT = "uniform-random, contiguous, every 1 us: mean latency"


def runs(repaired_us):
    """All runs of the page at the published mean, but those of that case without `running-minima`."""

    def mean_of(point):
        alone = point["case"].split("/compat")[0]
        changed = "running-minima" in str(point["changed"])
        return (repaired_us if changed and alone == "uniform-random/contiguous/1us" else MEAN_US) * 1e6

    points = find("kang2019-defects").points(False)
    return [{**point, "latency_mean_ps": mean_of(point)} for point in points]


def test_every_defect_is_repaired_by_itself_and_all_together():
    points = find("kang2019-defects").points(False)
    assert len({(point["model"], point["case"]) for point in points}) == len(points)
    slowed = [point for point in points if point["case"].startswith(SLOWED) and point["model"] == "as-published"]
    repaired = [make(point).data.get("compat_without", []) for point in slowed]
    assert [tuple(each) for each in repaired] == [(), *((defect,) for defect in DEFECTS), DEFECTS]
    assert all(make(point).data["compat"] == "codes-2019" for point in slowed)


def test_what_a_repair_moves_out_of_its_tolerance_is_named():
    reproduction = find("kang2019-defects")
    kept = runs(6.2)
    rows = {row.what: row for row in reproduction.rows(kept) if row.model == "as-published"}
    assert (rows[WHAT].ours, rows[WHAT].verdict) == (MEAN_US, "not comparable")
    repaired = rows[f"{REPAIRED[0]}: {WHAT}"]
    assert (repaired.ours, repaired.verdict) == (6.2, "not comparable")
    assert rows[f"{REPAIRED[1]}: {WHAT}"].ours == MEAN_US
    left = reproduction.text.of_rows(reproduction.rows(kept), {})["left"].splitlines()
    assert left[0].startswith(f"- **{REPAIRED[0]}**, 1 of these ")
    assert left[0].endswith(" leave their tolerance (K30).")
    assert left[1].startswith(f"- **{REPAIRED[1]}**, 0 of these ")
    assert left[-1].startswith(f"- **{TOGETHER}**, 1 of these ")


def test_a_value_that_only_the_authors_simulator_gives_has_that_cause():
    def rows_of(published_us):
        made = [
            {"model": model, "case": "uniform-random/contiguous/1us", "messages": 300, "latency_mean_ps": mean * 1e6}
            for model, mean in (("as-published", published_us), ("correct", 4.7))
        ]
        wanted = [row for row in expected() if row.what == WHAT]
        return {row.model: row for row in explain(compare(wanted, made, inferred=300))}

    assert "simulator" in rows_of(16.0)["correct"].why
    assert rows_of(16.0)["correct"].experiment == "the model as published, on this page"
    # A cause that an earlier run gave goes when the model as published gives the value no more.
    kept = [rows_of(9.0)["as-published"], rows_of(16.0)["correct"]]
    assert [row.why for row in explain(kept)] == ["", ""]
    # Neither gives it: not explained.
    assert rows_of(9.0)["correct"].why == rows_of(9.0)["as-published"].why == ""
