"""The simulations for De Sensi 2019, and what is kept of them: phantom congestion (D8), pairs of nodes (D22).

A point is an `experiment` (delay, or pairs intra or inter group), a `mode`, a `seed`, a `variant` ("" in the main
runs), its machine and background (`Around`), and the changes of its `job` against the main runs. A variant changes one
setting.
"""

from __future__ import annotations

import json
import textwrap
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import tomlkit

from odonata import machine, scenario, units
from odonata.placement.splitmix import SplitMix64

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

    from odonata.machine import Shape, System
    from odonata.reproduce.reproduction import Points
    from odonata.scenario import Scenario
    from odonata.store import Run

ADAPTIVE, HIGH_BIAS = "adaptive-0", "adaptive-3"
MODES = [ADAPTIVE, "adaptive-1", "adaptive-2", HIGH_BIAS, "min-hash", "nmin-hash", "in-order"]
DISTANCES = ("intra", "inter")
"""Both nodes of a pair in one group, or in two."""
UNIFORM = "uniform-random"
ROUND_TRIPS = {"chassis": "60 ns", "group": "60 ns", "optical": "300 ns"}
"""Class of link -> its round trip, twice its latency: one unit of the delay of credits (assumed)."""

DELAY_JOB = {
    "ranks": 64,  # as on Cori (D23)
    "message": "16 KiB",
    "interval": "10 us",
    "warm_up": "50 us",
    "window": "200 us",  # the messages issued in this time after the warm-up count
    "rest": "50 us",  # so that they arrive
}
PAIR_JOB = {
    "message": "4 MiB",  # D22
    "repeats": 4,  # the first message is not measured
    "probe_interval": "2 us",
    "pieces": 1,  # parts of a message, each sent when the one before has arrived
}
DELAY_SEEDS = 5
"""Seeds of a variant of the first experiment."""
VARIANTS = 20.0
"""Load of the variants, in percent, if they do not say another; of the comparison of all modes, too."""
SMALL: Any = {"preset": "aries", "groups": 4, "rows": 2, "columns": 4, "links_per_pair": 6}
"""The machine of the reduced form."""


@dataclass(frozen=True)
class Around:
    """A machine with a congestion metric, and a background that loads the cables between its groups."""

    system: Any = "aries"
    """`system` of the scenario."""
    nodes: int = 1024
    """Nodes of the background, drawn at random; as on Piz Daint (D23)."""
    sensing: str = "both"
    """The congestion metric: local queues plus far-end estimate (catalogue, decision 7)."""
    delay: int = 1
    """Delay of credits, in round trips of each link; 0 switches phantom congestion off (D8)."""
    load: float = VARIANTS
    """Background, in percent of what the cables between groups would carry if all of it took minimal paths."""
    pattern: str = UNIFORM
    message: str = "16 KiB"
    """Size of the background's messages; as De Sensi's figure 3 (D19)."""
    packet: str = ""
    """Largest packet, if not the machine's."""

    @property
    def machine(self) -> System:
        """The machine."""
        return _machine(json.dumps(self.system))

    @property
    def interval_ps(self) -> int:
        """Mean time between two messages of a background node. The load must not be 0."""
        known = self.machine
        shape, links = known.shape, known.links_per_pair
        bandwidth = known.fabric["links"]["optical"]["bandwidth"] / 1e6
        leaving = (shape.groups - 1) / shape.groups if self.pattern == UNIFORM else 1
        carried = shape.groups * (shape.groups - 1) * links * bandwidth * self.load / 100
        interval: float = units.size_bytes(self.message) * 1e12 * self.nodes * leaving / carried
        return round(interval)

    def scenario(self, jobs: list[dict[str, Any]], seed: int) -> dict[str, Any]:
        """These jobs, then the background with the machine's default mode, `adaptive-0`; without times."""
        sensing: dict[str, Any] = {"kind": self.sensing}
        if self.delay and self.sensing in ("credits", "both"):
            trips = {name: units.time_ps(trip) for name, trip in ROUND_TRIPS.items()}
            sensing["delay"] = {name: f"{self.delay * trip} ps" for name, trip in trips.items()}
        app = {"pattern": self.pattern, "message": self.message, "arrival": "poisson"}
        background = {"name": "background", "nodes": self.nodes, "place": drawn(seed, len(jobs)), "background": True}
        if self.load:
            jobs = [*jobs, {**background, "app": {**app, "interval": f"{self.interval_ps} ps"}}]
        table: dict[str, Any] = {"system": self.system, "sensing": sensing, "job": jobs, "run": {"seed": seed}}
        table["fabric"] = {"switching": "store-and-forward", **({"packet": self.packet} if self.packet else {})}
        return table


@lru_cache(maxsize=16)
def _machine(system: str) -> System:
    return machine.load(json.loads(system))


def drawn(seed: int, number: int) -> dict[str, Any]:
    """`place` of job `number` of a run: at random, with the seed that the validation page was made with."""
    return {"policy": "random", "seed": seed + number}


DELAY_VARIANTS: dict[str, dict[str, Any]] = {
    "credits alone": {"sensing": "credits"},
    "target's messages of one packet": {"job": {"message": "1 KiB"}},
    "background in bursts of 256 KiB": {"message": "256 KiB"},
    "machine `theta`": {"system": "theta"},
}
"""Variant of the first experiment -> its changes of the machine, the background and the job."""
PAIR_VARIANTS: dict[str, dict[str, Any]] = {
    "backlogs alone": {"sensing": "backlog"},
    "credits alone": {"sensing": "credits"},
    "no delay of credits": {"delay": 0},
    "delay of 4 round trips": {"delay": 4},
    "high bias of 2 KiB (as the low one)": {"job": {"bias_high": "2 KiB"}},
    "high bias of 32 KiB": {"job": {"bias_high": "32 KiB"}},
    "background in bursts of 1 MiB": {"message": "1 MiB"},
    "background to the next group, 10 %": {"pattern": "group-shift", "load": 10.0},
    "packets of 64 B, idle machine": {"packet": "64 B", "load": 0.0},
    "packets of 512 B": {"packet": "512 B"},
    "only the nearest cables count as shortest": {"job": {"gateways": "nearest"}},
    "a NIC of 10 GB/s": {"system": {"preset": "aries", "fabric": {"links": {"node": {"bandwidth": "10 GB/s"}}}}},
    "64 KiB at a time (1,024 packets of 64 B)": {"job": {"pieces": 64}},
    "machine `theta`": {"system": "theta"},
}
"""The same of the second one; `bias_high` is of the high bias, `gateways` of all jobs."""


def points(reduced: bool) -> Points:
    """Both experiments, the main runs of each first."""
    return [*_delays(reduced), *_pairs(reduced)]


def _point(experiment: str, mode: str, seed: int, around: Mapping[str, Any], **more: Any) -> dict[str, Any]:
    told = {"experiment": experiment, "mode": mode, "variant": "", "seed": seed, **asdict(Around(**around)), "job": {}}
    return {**told, **more}


def _delays(reduced: bool) -> Iterator[dict[str, Any]]:
    here: dict[str, Any] = {"system": SMALL, "nodes": 64} if reduced else {}
    for load in (20.0,) if reduced else (10.0, 20.0, 40.0):
        for delay in (0, 16) if reduced else (0, 1, 4, 16):
            for seed in range(1, (2 if reduced else 10) + 1):
                yield _point("delay", ADAPTIVE, seed, {**here, "load": load, "delay": delay})
    for variant in list(DELAY_VARIANTS)[:1] if reduced else DELAY_VARIANTS:
        changed = {"job": {}, **here, **DELAY_VARIANTS[variant]}
        job = changed.pop("job")
        for delay in (0, 1):
            for seed in range(1, (1 if reduced else DELAY_SEEDS) + 1):
                yield _point("delay", ADAPTIVE, seed, {**changed, "delay": delay}, variant=variant, job=job)


def _pairs(reduced: bool) -> Iterator[dict[str, Any]]:
    here: dict[str, Any] = {"system": SMALL, "nodes": 64} if reduced else {}
    short = {"repeats": 2} if reduced else {}
    for mode in MODES:
        compared = mode in (ADAPTIVE, HIGH_BIAS)
        for load in (0.0, 20.0) if reduced else (0.0, 20.0, 40.0):
            if not compared and load != VARIANTS:
                continue
            for where in DISTANCES:
                for seed in range(1, (5 if compared and not reduced else 1) + 1):
                    yield _point(where, mode, seed, {**here, "load": load}, job=short)
    for variant in ["64 KiB at a time (1,024 packets of 64 B)"] if reduced else PAIR_VARIANTS:
        changed = {"job": {}, **here, **PAIR_VARIANTS[variant]}
        job = {**short, **changed.pop("job")}
        for mode in (ADAPTIVE, HIGH_BIAS):
            for where in DISTANCES:
                yield _point(where, mode, 1, changed, variant=variant, job=job)


def around_of(point: Mapping[str, Any]) -> Around:
    """The machine and the background of a point."""
    return Around(**{name: point[name] for name in Around.__dataclass_fields__})


def messages(point: Mapping[str, Any]) -> int:
    """Messages that count: of each node on average, or of each pair."""
    if point["experiment"] == "delay":
        return units.time_ps(str(DELAY_JOB["window"])) // units.time_ps(str(DELAY_JOB["interval"]))
    repeats: int = {**PAIR_JOB, **point["job"]}["repeats"]
    return repeats - 1


def make(point: Mapping[str, Any]) -> Scenario:
    """The scenario of a point. The same seed means the same nodes, and the same background at the same times."""
    table = _delay_table(point) if point["experiment"] == "delay" else _pair_table(point)
    return scenario.parse(tomlkit.dumps(table), "aries-modes.toml")


def _delay_table(point: Mapping[str, Any]) -> dict[str, Any]:
    told: dict[str, Any] = {**DELAY_JOB, **point["job"]}
    app = {"pattern": UNIFORM, "message": told["message"], "interval": told["interval"], "arrival": "poisson"}
    job = {"name": "target", "nodes": told["ranks"], "place": drawn(point["seed"], 0), "app": app}
    table = around_of(point).scenario([{**job, "record": "every-message"}], point["seed"])
    table["run"]["until"] = f"{sum(units.time_ps(told[name]) for name in ('warm_up', 'window', 'rest'))} ps"
    measure = {"warm_up": told["warm_up"], "window": told["window"]}
    return {**table, "routing": point["mode"], "measure": measure}


def _pair_table(point: Mapping[str, Any]) -> dict[str, Any]:
    """All pairs, then all probes, then the background.

    One pair from each group, all in the same mode. A probe on the two routers of each pair sends single packets in both
    directions: what the NIC counters of Aries measure as latency.
    """
    told: dict[str, Any] = {**PAIR_JOB, **point["job"]}
    around = around_of(point)
    shape = around.machine.shape
    gateways = {"gateways": told["gateways"]} if "gateways" in told else {}
    bias = {"bias_high": told["bias_high"]} if "bias_high" in told and point["mode"] == HIGH_BIAS else {}
    pairs = draw_pairs(shape, point["experiment"], point["seed"])
    each = units.size_bytes(told["message"]) // told["pieces"]
    ping: dict[str, Any] = {"pattern": "broadcast", "message": f"{each} B", "interval": "1 ps", "jitter": "0 ps"}
    ping |= {"first": "at-zero", "messages": told["repeats"] * told["pieces"]}
    size = around.packet or f"{around.machine.fabric['packet_bytes']} B"
    probe = {"pattern": "tornado", "offset": 1, "message": size, "interval": told["probe_interval"]}
    jobs = [
        {
            "name": f"{kind}{number}",
            "place": {"policy": "explicit", "nodes": [shape.nodes_on(router)[index] for router in pair]},
            "app": app,
            "routing": {"name": point["mode"], **bias, **gateways},
            "record": "every-message",
            "background": kind == "probe",
        }
        for index, (kind, app) in enumerate((("pair", ping), ("probe", {**probe, "arrival": "poisson"})))
        for number, pair in enumerate(pairs)
    ]
    table = {**around.scenario(jobs, point["seed"]), "routing": {"name": ADAPTIVE, **gateways}}
    table["run"]["until"] = [f"pair{number}" for number in range(len(pairs))]
    return table


def draw_pairs(shape: Shape, where: str, seed: int) -> list[tuple[int, int]]:
    """A pair of routers from each group: sender and receiver, all on different routers."""
    stream, used, pairs = SplitMix64(seed), set[int](), []
    for group in range(shape.groups):
        while True:
            other = group if where == "intra" else (group + 1 + stream.below(shape.groups - 1)) % shape.groups
            pair = _router(shape, group, stream), _router(shape, other, stream)
            if pair[0] != pair[1] and not used & set(pair):
                break
        used |= set(pair)
        pairs.append(pair)
    return pairs


def _router(shape: Shape, group: int, stream: SplitMix64) -> int:
    inside = shape.routers_in(group)
    return inside[stream.below(len(inside))]


def keep(run: Run) -> dict[str, Any]:
    """The kept values of a run of either experiment; those of the other one are absent."""
    return _keep_delay(run) if run.jobs["name"][0] == "target" else _keep_pairs(run)


def _keep_delay(run: Run) -> dict[str, Any]:
    """Latencies of the target's messages, in picoseconds from issue to last byte, and the load of its background.

    Raises ValueError if a message that counts did not arrive: its latency would be missing from the variance.
    """
    measured = run.resolved["spec"]["measure"]
    issued = pl.col("issue_ps")
    counts = (issued >= measured["from_ps"]) & (issued < measured["until_ps"]) & (pl.col("job") == 0)
    latency = run.messages.filter(counts)["latency_ps"]
    if latency.null_count() or not len(latency):
        raise ValueError(f"{latency.null_count()} of {len(latency)} messages that count did not arrive: saturated")
    latencies = latency.to_numpy().astype(np.float64)
    p25, p75 = np.percentile(latencies, (25, 75))
    shares = run.jobs["minimal_fraction"].to_list()
    return {
        "mean_ps": latencies.mean(),
        "variance_ps2": latencies.var(ddof=1),
        "qcd": (p75 - p25) / (p75 + p25),  # quartile coefficient of dispersion (D17)
        "minimal": shares[0],
        "background_minimal": shares[1] if len(shares) > 1 else 1.0,
    }


def _keep_pairs(run: Run) -> dict[str, Any]:
    """A value for each pair.

    - `times_ps`: time of each message that counts (all but the first), from issue to last byte.
    - `stalls`: s (D9), the mean waiting time of a flit at the NIC, divided by the time to send it there.
    - `probe_ps`, `probe_variance_ps2`: L (D9), mean of the probe's packets one way plus the other way; its variance.
    - `pair_minimal`, `pair_hops`: share of packets on minimal paths, links between routers of a packet.
    - `sent_ps`: the time that the NIC needs for a message.

    Raises ValueError if a pair or a probe delivered nothing that counts.
    """
    spec, rows = run.resolved["spec"], run.messages.drop_nulls("latency_ps")
    jobs = run.jobs.filter(pl.col("name").str.starts_with("pair"))
    bandwidth = spec["fabric"]["links"]["node"]["bandwidth"] / 1e18
    traffic = spec["jobs"][0]["traffic"]
    pieces = max(1, units.size_bytes(str(PAIR_JOB["message"])) // traffic["message_bytes"])
    kept: dict[str, list[Any]] = {name: [] for name in ("times_ps", "stalls", "probe_ps", "probe_variance_ps2")}
    nics = run.links.filter(pl.col("from_kind") == "node").select("from_id", "stalled_ps", "bytes")
    at_nic = {node: (stalled, sent) for node, stalled, sent in nics.iter_rows()}
    for pair in range(jobs.height):
        mine = rows.filter(pl.col("job") == pair).sort("interval")
        latency, issued = mine["latency_ps"].to_numpy(), mine["issue_ps"].to_numpy()
        took = latency.reshape(-1, pieces).sum(axis=1)
        if len(took) < 2:
            raise ValueError("a pair needs two messages: the first one is not measured")
        kept["times_ps"].append([int(time) for time in took[1:]])
        first, last = int(issued[pieces]), int(issued[-1] + latency[-1])
        ways = [_probe(rows, jobs.height + pair, source, first, last) for source in (0, 1)]
        kept["probe_ps"].append(float(sum(way.mean() for way in ways)))
        kept["probe_variance_ps2"].append(float(sum(way.var(ddof=1) for way in ways)))
        # Room in the router is taken when a packet is granted the link, not when it goes, so a node that has something
        # to send all the time waits for room even while it sends: only what it waits beyond that is a stall.
        waited, sent = at_nic[spec["jobs"][pair]["nodes"][0]]
        kept["stalls"].append(max(0.0, float(waited / (sent / bandwidth)) - 1))
    shares = {"pair_minimal": jobs["minimal_fraction"].to_list(), "pair_hops": jobs["hops_mean"].to_list()}
    return {**kept, **shares, "sent_ps": traffic["message_bytes"] * pieces / bandwidth}


def _probe(rows: pl.DataFrame, job: int, source: int, first: int, last: int) -> NDArray[np.float64]:
    """One-way latencies of the packets issued while the measured messages were under way."""
    issued = pl.col("issue_ps")
    mine = (pl.col("job") == job) & (pl.col("source") == source) & (issued >= first) & (issued < last)
    latencies = rows.filter(mine)["latency_ps"]
    if len(latencies) < 2:
        raise ValueError("a probe sent fewer than two packets one way")
    latency: NDArray[np.float64] = latencies.to_numpy().astype(np.float64)
    return latency


def setting() -> str:
    """The fixed settings of the full form in words."""
    around, job = Around(), DELAY_JOB
    trips = ", ".join(f"{name} {trip}" for name, trip in ROUND_TRIPS.items())
    words = (
        f"Machine: the preset `{around.system}`. Background: {around.nodes:,} nodes drawn at random that send "
        f"messages of {around.message} to each other (`{around.pattern}`), always in mode `adaptive-0`. Its load "
        "is in percent of what the cables between groups would carry if all of it took minimal paths. Congestion "
        f"metric: `{around.sensing}`; routers learn of credits one round trip of the link late ({trips}). Biases and "
        "numbers of candidates are the modes' defaults: 2 + 2 candidates, a bias of 0, 2 KiB (low) or 8 KiB (high). "
        f"First experiment: {job['ranks']} nodes drawn at random send {job['message']} to each other every "
        f"{job['interval']} on average; the messages issued in {job['window']} count. Second: "
        f"{messages({'experiment': 'intra', 'job': {}})} messages of {PAIR_JOB['message']} count for each pair."
    )
    return textwrap.fill(words, 120, break_long_words=False, break_on_hyphens=False)
