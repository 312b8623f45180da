"""`desensi2019-buffers`: the scan sets what its table names, and its table says which settings hold."""

from odonata.reproduce import find
from odonata.reproduce.desensi2019 import buffers, modes
from odonata.reproduce.desensi2019.pingpong import HIGH_BIAS, INTRA

ALL = {
    (INTRA, "times_ps"): 1.2,
    (INTRA, "stalls"): 1.0,
    (INTRA, "latency_ps"): 1.0,
    (INTRA, "estimates_ps"): 1.2,
    (modes.INTER, "times_ps"): 0.9,
    (modes.INTER, "stalls"): 0.0,
    (modes.INTER, "latency_ps"): 0.6,
    (modes.INTER, "estimates_ps"): 0.9,
}
"""Distance and value -> high bias over the default, or (of stalls) more than the default, with which all hold."""


def test_a_point_has_its_buffer_and_bias() -> None:
    point = next(p for p in buffers.points(False) if (p["buffer"], p["bias"]) == ("1536 B", "4 KiB"))
    spec = buffers.make(point).resolve().spec
    sizes = {name: link["buffer_bytes"] for name, link in spec["fabric"]["links"].items()}
    assert sizes == {"node": 1536, "chassis": 1536, "group": 1536, "optical": 16384}
    biases = {
        job["routing"]["bias_high_bytes"] for job in spec["jobs"] if job.get("routing", {}).get("mode") == HIGH_BIAS
    }
    assert biases == {4096}


def test_the_table_says_which_settings_hold() -> None:
    runs = []
    for point in buffers.points(False):
        right = (point["buffer"], point["bias"]) == ("1536 B", "8 KiB")
        kept = {name: [] for name in ("times_ps", "stalls", "latency_ps", "estimates_ps")}
        for where in point["distances"]:
            for mode in point["modes"]:
                for name, values in kept.items():
                    more = ALL[where, name] if right else 1.0
                    default = 0.0 if name == "stalls" else 10.0
                    high = (more if right else 0.0) if name == "stalls" else default * more
                    values.append([high if mode == HIGH_BIAS else default])
        runs.append({**point, **kept})
    study = find("desensi2019-buffers")
    rows = study.rows(runs)
    assert len(rows) == len(buffers.BUFFERS) * len(buffers.BIASES) * 8
    page = " ".join(study.page(rows, runs).split())
    assert "All 8 hold with: 1536 B with a bias of 8 KiB. Most hold (8) with: 1536 B with 8 KiB." in page
    # Ratios of 1 are similar and comparable: two of the eight.
    assert "With the preset, 2 of 8 statements hold." in page
