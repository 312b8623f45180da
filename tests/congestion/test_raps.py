"""The example for RAPS, with jobs and an engine that have what RAPS's have. (RAPS itself is not installed.)"""

import importlib.util
from dataclasses import dataclass, field
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).parents[2] / "examples" / "raps.py"
LINK = 16 * 2**30


@pytest.fixture(scope="module")
def example():
    spec = importlib.util.spec_from_file_location("raps_example", EXAMPLE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@dataclass
class Job:
    """The attributes of `raps.job.Job` that RAPS's network model reads."""

    id: int
    scheduled_nodes: list[int]
    ntx_trace: list[float]
    trace_quanta: int = 15
    comm_pattern: str = "CommunicationPattern.ALL_TO_ALL"
    dilated: bool = False
    slowdown_factor: float = 1.0
    tick: int = 0
    nrx_trace: list[float] = field(default_factory=list)

    def __post_init__(self):
        self.nrx_trace = self.nrx_trace or self.ntx_trace

    @property
    def nodes_required(self):
        return len(self.scheduled_nodes)


def utilization(trace, job):
    """The value of a trace at the present time of its job."""
    return trace[min(job.tick, len(trace) - 1)]


def slowed_down(*, max_throughput, net_cong, net_tx, net_rx):
    """What RAPS does with the values of a network model: it dilates by this factor."""
    if net_cong <= 1:
        return 1.0
    return max(1.0, (net_tx + net_rx) / max_throughput)


@dataclass
class Engine:
    running: list[Job]
    network_model: object = None
    current_timestep: int = 0

    def tick(self):
        factors = []
        for job in self.running:
            used, congestion, sent, received, carried = self.network_model.simulate_network_utilization(job=job)
            assert 0 <= used <= 1
            of = {"max_throughput": carried, "net_cong": congestion, "net_tx": sent, "net_rx": received}
            factors.append(slowed_down(**of))
            job.tick += 1
        self.current_timestep += 1
        return factors


def engine(example, jobs):
    made = Engine(jobs)
    running, now = lambda: made.running, lambda: made.current_timestep
    made.network_model = example.OdonataNetwork("tiny", running, now, link=LINK, utilization=utilization)
    return made


def per_tick(share):
    """Bytes that a node sends in a tick at this share of its link."""
    return share * LINK * 15


def test_raps_slows_jobs_down_by_the_factors_of_odonata(example):
    """Rates are rounded down by at most a tenth. Catches bytes of a tick that are taken for bytes a second."""
    quiet, loud, one = Job(1, [0, 1], [per_tick(0.2)]), Job(2, [2, 3], [per_tick(2)]), Job(3, [4], [per_tick(1)])
    factors = engine(example, [quiet, loud, one]).tick()
    assert (factors[0], factors[2]) == (1, 1)
    assert 2 / 1.1 * 0.97 <= factors[1] <= 2 * 1.03


def test_a_tick_without_a_change_runs_nothing(example, monkeypatch):
    """Only another set of jobs or another traffic is simulated; the one before is remembered."""
    runs = []
    slowdowns = example.od.slowdowns
    monkeypatch.setattr(example.od, "slowdowns", lambda *a, **k: runs.append(a[1]) or slowdowns(*a, **k))
    low = 15 * example.STEP**240
    assert 0.4 < low / per_tick(1) < 0.6
    trace = [1.05 * low, 1.08 * low, 3 * low, 1.05 * low]
    made = engine(example, [Job(1, [0, 1], trace)])
    factors = [made.tick()[0] for _ in range(4)]
    assert len(runs) == 2
    assert factors[0] == factors[1] == factors[3] == 1
    assert factors[2] > 1.2
    made.running.append(Job(2, [2, 3], [per_tick(0.1)]))
    made.tick()
    assert [len(jobs) for jobs in runs] == [1, 1, 2]


def test_a_tick_has_one_run(example, monkeypatch):
    """RAPS moves jobs to the present tick one after the other, while it asks for each. Catches a run for each job."""
    runs = []
    slowdowns = example.od.slowdowns
    monkeypatch.setattr(example.od, "slowdowns", lambda *a, **k: runs.append(a[1]) or slowdowns(*a, **k))
    made = engine(example, [Job(n, [2 * n, 2 * n + 1], [per_tick(0.1), per_tick(0.4)]) for n in range(3)])
    made.tick()
    made.tick()
    assert len(runs) == 2


def test_a_job_may_start_within_a_tick(example):
    """Catches a KeyError for a job that the first question of the tick did not see."""
    made = engine(example, [Job(1, [0, 1], [per_tick(0.1)])])
    made.network_model.simulate_network_utilization(job=made.running[0])
    made.running.append(Job(2, [2, 3], [per_tick(2)]))
    assert made.tick()[1] > 1.5


def test_a_job_with_a_stencil_sends_to_neighbours(example):
    job = Job(1, list(range(8)), [per_tick(0.1)], comm_pattern="CommunicationPattern.STENCIL_3D")
    network = engine(example, [job]).network_model
    assert network._sending(job).app == {"pattern": "stencil-3d"}
    assert network._sending(Job(2, [0, 1], [0.0])).rate == 0
