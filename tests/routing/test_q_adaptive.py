"""Q-adaptive routing: its table, its updates and its decisions, as the authors' public simulator has them."""

from importlib.resources import files
from types import SimpleNamespace

import numpy as np
import pytest

import odonata as od
from odonata.errors import OdonataError

pytest.importorskip("numba")
pytestmark = pytest.mark.xdist_group("numba")

MACHINE = {
    "kind": "dragonfly",
    "groups": 9,
    "routers": 4,
    "nodes_per_router": 2,
    "global_links_per_router": 2,
    "fabric": {
        "channels": 5,
        "packet": "2 KiB",
        "links": {
            "node": {"bandwidth": "12.5 GB/s", "latency": "10 ns"},
            "local": {"bandwidth": "12.5 GB/s", "latency": "20 ns"},
            "global": {"bandwidth": "12.5 GB/s", "latency": "70 ns"},
        },
    },
}
NODES = 1024


@pytest.fixture(scope="module")
def own():
    from odonata.routing.program import own_routings

    text = (files("odonata.routing") / "files" / "q_adaptive.py").read_text("utf-8")
    return own_routings.__wrapped__(text, "q_adaptive.py")["q_adaptive"]  # the tests change its globals


def router(number, groups=9, per_group=4):
    """Router `number` of a machine of `groups` groups, whose router r leads 2 r + 1 and 2 r + 2 groups on."""
    routers = groups * per_group
    links = np.full((routers, routers), 3)
    for a in range(routers):
        for b in range(routers):
            if a == b:
                links[a, b] = 0
            elif a // per_group == b // per_group:
                links[a, b] = 1
    for a in range(routers):
        for k in (0, 1):
            to = (a // per_group + 1 + 2 * (a % per_group) + k) % groups
            back = (a // per_group - to - 1) % groups
            links[a, to * per_group + back // 2] = links[to * per_group + back // 2, a] = 1
    ports = [r for r in range(routers) if links[number, r] == 1]
    state = SimpleNamespace(time=np.zeros((groups, 2, 2 + len(ports))), gateway=np.zeros(groups))
    names = {"rate_down": 0.2, "rate_up": 0.04, "explore": 0.0, "threshold_source": 0.2, "threshold_middle": 0.35}
    parameters = SimpleNamespace(**names, latency_local=20.0, latency_global=70.0)
    seen = [
        SimpleNamespace(port=2 + at, router=r, links=0, minimal=0, load=0, link_class=1) for at, r in enumerate(ports)
    ]
    here = SimpleNamespace(
        router=number,
        time=0,
        routers=routers,
        state=state,
        links=links,
        groups=np.arange(routers) // per_group,
        parameters=parameters,
    )
    return here, seen


def started(own, number):
    here, ports = router(number)
    own.others["start"](ports, here)
    return here, ports


def packet(hop, destination, memory=-1, came_from=0):
    return SimpleNamespace(
        key=1,
        hop=hop,
        hops_left=5 - hop,
        destination=destination,
        bytes=1,
        came_from=came_from,
        memory=memory,
        answer=0.0,
    )


def plain(own):
    """The function as Python, with its helpers as Python too."""
    function = own.function
    for name in ("port_to", "quickest", "any_local", "random"):
        helper = function.__globals__[name]
        function.__globals__[name] = getattr(helper, "py_func", helper)
    return function


def test_first_times_are_those_of_the_links(own):
    """A global latency, and a local one more unless the port leads into the group."""
    here, ports = started(own, 0)
    for port in ports:
        group = port.router // 4
        for to in range(1, 9):
            assert here.state.time[to, 0, port.port] == (70.0 if group == to else 90.0)
    gateways = [next(port.router for port in ports if port.port == here.state.gateway[to]) for to in range(1, 9)]
    assert gateways[:2] == [next(p.router for p in ports if p.router // 4 == to) for to in (1, 2)], "its own links"
    assert gateways[2:] == [1, 1, 2, 2, 3, 3], "the routers of the group that have them"


@pytest.mark.parametrize(("seen", "rate"), [(50.0, 0.2), (500.0, 0.04)])
def test_shorter_times_are_learned_faster_than_longer_ones(own, seen, rate):
    """Hysteretic learning: 0.2 down, 0.04 up. The row is that of the destination's group and the source's node."""
    here, _ = started(own, 0)
    before = here.state.time.copy()
    answer = SimpleNamespace(
        port=2, router=1, destination=30, delay=seen - 20, answer=20.0, last=0, memory=0 * NODES + 1
    )
    own.others["learn"](answer, here)
    changed = np.argwhere(here.state.time != before)
    assert changed.tolist() == [[7, 1, 2]]
    assert here.state.time[7, 1, 2] == pytest.approx(90 + rate * (seen - 90))


def test_nothing_is_learned_inside_the_group_of_the_destination(own):
    here, _ = started(own, 28)
    before = here.state.time.copy()
    own.others["learn"](SimpleNamespace(port=2, router=1, destination=30, delay=9, answer=0.0, last=1, memory=1), here)
    assert (here.state.time == before).all()


def test_the_source_leaves_the_minimal_path_above_the_threshold_only(own):
    route = plain(own)
    here, ports = started(own, 0)
    minimal = next(at for at, port in enumerate(ports) if port.router // 4 == 1)
    other = next(at for at, port in enumerate(ports) if port.router // 4 == 2)
    for time, expected in ((57.0, minimal), (56.0, other)):  # 70 - 56 is 0.2 of 70
        here.state.time[1, 0, ports[other].port] = time
        of = packet(0, 5)
        assert route(of, ports, here) == expected
        assert of.answer == time, "the least of all ports, whatever is taken"
        assert of.memory == 0


def test_on_its_way_in_its_own_group_and_in_that_of_the_destination_it_is_minimal(own):
    route = plain(own)
    here, ports = started(own, 1)
    here.state.time[:] = 1000.0
    here.state.time[1, 0, ports[0].port] = 1.0
    assert ports[route(packet(1, 5, memory=0), ports, here)].router == 0, "to the router with the link"
    assert ports[route(packet(2, 3, memory=8 * NODES), ports, here)].router == 3


def test_the_first_router_of_another_group_may_ask_one_random_router(own):
    route = plain(own)
    here, ports = started(own, 1)
    assert ports[0].router == 0, "the minimal way to group 2"

    def taken(minimal):
        here.state.time[:] = 1.0
        here.state.time[2, 0, ports[0].port] = minimal
        packets = [packet(1, 8, memory=5 * NODES) for _ in range(60)]
        for key, of in enumerate(packets):
            of.key = key
        return {ports[route(of, ports, here)].router for of in packets}

    assert taken(1.55) == {0, 2, 3}, "any of them if it is quicker by more than 0.35 of the minimal way"
    assert taken(1.5) == {0}, "quicker by a third only"
    direct = ports[route(packet(1, 16, memory=5 * NODES), ports, here)]
    assert direct.router // 4 == 4, "its own link to the destination's group is taken at once"


def traffic(routing, **run):
    app = {"pattern": "group-shift", "message": "2 KiB", "load": "40 %", "arrival": "poisson"}
    return od.Scenario.of(
        {
            "system": MACHINE,
            "routing": routing,
            "job": [{"name": "all", "nodes": 72, "app": app, "record": "histogram"}],
            "run": {"until": "200 us", **run},
            "measure": {"warm_up": "100 us"},
        }
    )


def test_it_learns_to_leave_minimal_paths_under_adverse_traffic():
    learned, minimal = (od.run(traffic(routing)).jobs.row(0, named=True) for routing in ("q-adaptive", "minimal"))
    assert learned["backlog_growth"] < 0.1 < minimal["backlog_growth"]
    assert learned["hops_mean"] <= 6


def test_threads_do_not_change_what_is_learned():
    of = traffic("q-adaptive")
    one_thread, two = (od.run(of, threads=threads).jobs for threads in (1, 2))
    assert one_thread.equals(two)


def test_latencies_of_the_machine_are_its_first_times():
    kept = traffic("q-adaptive").resolve().spec["own_routings"]
    (program,) = kept.values()
    assert (program["parameters"]["latency_local"], program["parameters"]["latency_global"]) == (20_000, 70_000)


def test_a_machine_with_several_links_between_groups_is_refused():
    given = traffic("q-adaptive").data
    several = {**given["system"], "groups": 3}
    job = [{**given["job"][0], "nodes": 24}]
    with pytest.raises(OdonataError, match="one link between two groups"):
        od.Scenario.of({**given, "system": several, "job": job}).resolve()
