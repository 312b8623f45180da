"""Routings of one's own: as fast code as the built-in ones, with the same results, and clear about what is wrong."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import odonata as od
from odonata import routing
from odonata.errors import OdonataError

pytest.importorskip("numba")
pytestmark = pytest.mark.xdist_group("numba")  # one process compiles the helpers once

EXAMPLES = Path(__file__).parents[2] / "examples" / "routings"
HEADER = routing.HEADER.parent


def scenario(system, routing, *, folder=EXAMPLES, message="20 kB", sensing=None, channels=6, seed=1, nodes=None):
    app = {"pattern": "uniform-random", "message": message, "interval": "4 us", "messages": 8}
    given = {
        "system": system,
        "routing": routing,
        "fabric": {"channels": channels},
        "job": [{"name": "a", "nodes": nodes or 24, "place": "random-nodes", "app": app, "record": "every-message"}],
        "run": {"seed": seed},
        **({"sensing": sensing} if sensing else {}),
    }
    return od.Scenario.of(given, folder=folder)


def latencies(of, **options):
    return od.run(of, **options).messages["latency_ps"].to_list()


LINKS = {
    "node": {"bandwidth": "12.5 GB/s", "latency": "10 ns"},
    "link": {"bandwidth": "12.5 GB/s", "latency": "100 ns"},
}
GRAPHS = {
    "random": {"links": {"generator": "random-regular", "routers": 14, "degree": 4}, "nodes_per_router": 2},
    "torus": {"links": {"generator": "torus", "dimensions": [4, 4]}, "nodes_per_router": 2},
    "slim fly": {"links": {"generator": "slim-fly", "q": 5}, "nodes_per_router": 1},
}


@pytest.mark.parametrize("name", sorted(GRAPHS))
@pytest.mark.parametrize("seed", [1, 2])
def test_ugal_as_a_file_is_the_built_in_one_to_the_picosecond(name, seed):
    """Catches another order of candidates, another random number, and another load than the built-in one."""
    graph = {"kind": "graph", "fabric": {"links": LINKS}, **GRAPHS[name]}
    built_in = latencies(scenario(graph, "ugal-hops", channels=8, seed=seed))
    own = latencies(scenario(graph, {"python": "ugal.py"}, channels=8, seed=seed))
    assert own == built_in
    assert own != latencies(scenario(graph, "minimal", channels=8, seed=seed)), "loads must matter"


def write(folder, text, name="mine.py"):
    (folder / name).write_text("from odonata.routing import least, others, random, routing\n" + text)
    return {"python": name}


ANY = "@routing(hops=6)\ndef mine(packet, ports, router):\n    return random(packet, 0, len(ports))\n"


@pytest.mark.parametrize("system", ["tiny", "theta", "kang2019", "leonardo"])
def test_it_runs_on_every_kind_of_machine(system, tmp_path):
    run = od.run(scenario(system, write(tmp_path, ANY), folder=tmp_path, nodes=16))
    assert run.jobs["messages_delivered"].to_list() == run.jobs["messages_sent"].to_list()


LEARNING = """
@routing(hops=5, state={"time": ("routers", "ports")}, parameters={"rate": 0.2})
def mine(packet, ports, router):
    time = router.state.time[packet.destination]
    best = 0
    for i in range(len(ports)):
        if time[ports[i].port] < time[ports[best].port]:
            best = i
    packet.answer = time[ports[best].port]
    return best

@mine.start
def start(ports, router):
    for i in range(len(ports)):
        router.state.time[:, ports[i].port] = 100_000 + i

@mine.learn
def learn(answer, router):
    time = router.state.time[answer.destination]
    time[answer.port] += router.parameters.rate * (answer.delay + answer.answer - time[answer.port])
"""


@pytest.mark.parametrize("text", [ANY, LEARNING], ids=["draws", "learns"])
def test_threads_do_not_change_a_result(text, tmp_path):
    """Catches state that another thread reads, and answers in the order in which threads finish."""
    of = scenario("theta", write(tmp_path, text), folder=tmp_path, nodes=300)
    assert latencies(of) == latencies(of, threads=2)


def test_what_is_learned_matters(tmp_path):
    given = write(tmp_path, LEARNING)
    by_rate = [
        latencies(scenario("theta", {**given, "parameters": {"rate": rate}}, folder=tmp_path, nodes=300))
        for rate in (0.0, 0.2)
    ]
    assert by_rate[0] != by_rate[1]


def test_the_contents_of_the_file_and_the_parameters_are_in_the_identity(tmp_path):
    ids = set()
    for text in (LEARNING, LEARNING + "\n# another version\n"):
        given = write(tmp_path, text)
        for rate in (0.1, 0.2):
            of = scenario("tiny", {**given, "parameters": {"rate": rate}}, folder=tmp_path, nodes=8)
            ids.add(of.resolve(check=False).id)
    assert len(ids) == 4


def test_a_file_elsewhere_with_the_same_contents_is_the_same_run(tmp_path):
    folders = [tmp_path / "a", tmp_path / "b"]
    for folder in folders:
        folder.mkdir()
    ids = {scenario("tiny", write(of, ANY), folder=of, nodes=8).resolve().id for of in folders}
    assert len(ids) == 1


def test_workers_of_a_sweep_compile_it_themselves(tmp_path):
    given = write(tmp_path, ANY)
    of = scenario("tiny", given, folder=tmp_path, nodes=8)
    study = od.sweep(of, {"run.seed": [1, 2, 3]}, workers=2)
    assert len(set(study.jobs["latency_mean_ps"].to_list())) == 3


REFUSED = {
    "beyond": ("    return len(ports)\n", "of 1|picked"),
    "negative": ("    return -1\n", "picked -1"),
    "its number": ("    return ports[0].port + 50\n", "position of a port"),
    "memory": ("    packet.memory = 2**40\n    return 0\n", "packet.memory"),
    "an index": ("    return router.ends[len(router.ends) + 3 - packet.hop]\n", "`route` of the routing raised"),
    "division": ("    return 1 // (packet.bytes - packet.bytes)\n", "`route` of the routing raised"),
    "the largest memory and one": ("    packet.memory = 2**32 - 1\n    return 0\n", "packet.memory"),
    "no such field": ("    x = 1\n    return packet.colour\n", r"mine.py:5: .*there is no `colour`"),
    "nearly a field": ("    return ports[0].lode\n", "did you mean `load`"),
    "nearly a parameter": ("    return int(router.parameters.thresh)\n", "there is no `thresh`"),
    "a text": ("    return 'a'\n", "returns a text"),
    "nothing": ("    packet.memory = 1\n", "returns nothing"),
    "a port": ("    return ports[0]\n", "returns a port"),
    "a fraction": ("    return 0.5\n", "a number with a fraction"),
    "tables": ("    router.links[0, 0] = 1\n    return 0\n", "cannot be compiled"),
}


@pytest.mark.parametrize("name", sorted(REFUSED))
def test_a_wrong_function_is_told(name, tmp_path):
    body, told = REFUSED[name]
    given = write(tmp_path, f"@routing\ndef mine(packet, ports, router):\n{body}")
    with pytest.raises(OdonataError, match=told):
        od.run(scenario("tiny", given, folder=tmp_path, nodes=8))


def test_a_function_cannot_change_the_port_that_it_picks(tmp_path):
    """Catches a core that reads its tables back from what a function could write."""
    changed = ANY.replace("    return", "    ports[0].port = 60_000\n    ports[0].minimal = 0\n    return")
    assert changed != ANY
    plain = latencies(scenario("tiny", write(tmp_path, ANY), folder=tmp_path, nodes=8))
    assert latencies(scenario("tiny", write(tmp_path, changed, "other.py"), folder=tmp_path, nodes=8)) == plain


@pytest.mark.parametrize("name", ["start", "learn"])
def test_an_exception_in_any_function_ends_the_run(name, tmp_path):
    first = "ports" if name == "start" else "answer"
    text = f"{LEARNING}\n@mine.{name}\ndef other({first}, router):\n    router.state.time[10_000_000, 0] = 1.0\n"
    with pytest.raises(OdonataError, match=f"`{name}` of the routing raised"):
        od.run(scenario("theta", write(tmp_path, text), folder=tmp_path, nodes=64))


def test_a_machine_of_one_router_has_paths_of_one_link(tmp_path):
    switch = {"kind": "graph", "fabric": {"links": LINKS}, "links": {"generator": "switch", "nodes": 4}}
    assert latencies(scenario(switch, write(tmp_path, ANY.replace("hops=6", "")), folder=tmp_path, nodes=4))


def test_a_misspelled_key_of_the_file_is_told():
    with pytest.raises(OdonataError, match="did you mean `python`"):
        scenario("tiny", {"pyhton": "ugal.py"}, nodes=8)


FILES = {
    "an import": ("import helpers_of_mine\n" + ANY, r"mine.py:2: it imports `helpers_of_mine`"),
    "an import nearby": ("from .helpers import a\n" + ANY, "it imports `.helpers`"),
    "leaves": ("import sys\nsys.exit(0)\n", "SystemExit"),
    "hops of a kind": ("@routing(hops=2.5)\ndef mine(packet, ports, router):\n    return 0\n", "`hops` is `2.5`"),
    "arguments": ("@routing\ndef mine(packet, ports):\n    return 0\n", "must take the arguments"),
    "nothing": ("x = 1\n", "no function with the decorator"),
    "syntax": ("def (\n", "no Python"),
    "raises": ("1 / 0\n", "ZeroDivisionError"),
    "two": (ANY + ANY.replace("mine", "yours"), "several routings: mine, yours"),
    "hops": ("@routing(hops='2 diameters')\ndef mine(packet, ports, router):\n    return 0\n", "2 diameters"),
    "many hops": ("@routing(hops=17)\ndef mine(packet, ports, router):\n    return 0\n", "expected 1 to 16"),
    "a size": ("@routing(state={'a': ('router',)})\ndef mine(packet, ports, router):\n    return 0\n", "router"),
}


@pytest.mark.parametrize("name", sorted(FILES))
def test_a_wrong_file_is_told(name, tmp_path):
    text, told = FILES[name]
    given = write(tmp_path, text)
    with pytest.raises(OdonataError, match=told):
        scenario("tiny", given, folder=tmp_path, nodes=8).resolve()


TABLES = {
    "no file": ({"python": "other.py"}, "other.py"),
    "both": ({"python": "mine.py", "library": "mine.so"}, "it has both"),
    "neither": ({"name": "custom"}, "it has neither"),
    "a parameter": ({"python": "mine.py", "parameters": {"rates": 1}}, "rates"),
    "no number": ({"python": "mine.py", "parameters": {"rate": "1"}}, "expected a number"),
    "few hops": ({"python": "mine.py", "hops": 1}, "up to 3"),
    "state": ({"python": "mine.py", "state": 4}, "does not go with `python`"),
    "function": ({"python": "mine.py", "function": "min"}, "mine"),
    "no library": ({"library": "mine.so"}, "mine.so"),
}


@pytest.mark.parametrize("name", sorted(TABLES))
def test_a_wrong_table_is_told(name, tmp_path):
    given, told = TABLES[name]
    write(tmp_path, LEARNING)
    with pytest.raises(OdonataError, match=told):
        scenario("tiny", given, folder=tmp_path, nodes=8).resolve()


def test_too_few_channels_are_told_with_the_number(tmp_path):
    with pytest.raises(OdonataError, match="needs 6 virtual channels"):
        scenario("tiny", write(tmp_path, ANY), folder=tmp_path, nodes=8, channels=2).resolve()


def test_it_does_not_run_beside_a_built_in_one(tmp_path):
    data = scenario("tiny", write(tmp_path, ANY), folder=tmp_path, nodes=8).data
    beside = [*data["job"], {**data["job"][0], "name": "b", "nodes": 4, "routing": "minimal"}]
    with pytest.raises(OdonataError, match="not both"):
        od.Scenario.of({**data, "job": beside}, folder=tmp_path).resolve()


LIBRARY = """
#include "odonata_routing.h"

int64_t odonata_route(odonata_packet *packet, const odonata_port *ports, int64_t count, const odonata_router *router) {
    (void)ports;
    (void)router;
    return odonata_random(packet, 0, count);
}
"""


def library(folder, text, name="mine.so"):
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        pytest.skip("this machine has no C compiler")
    (folder / "mine.c").write_text(text)
    options = ["-O1", "-shared", "-fPIC", "-Wall", "-Werror", "-I", str(HEADER), "-o", str(folder / name)]
    subprocess.run([compiler, *options, str(folder / "mine.c")], check=True)
    return {"library": name, "hops": 6}


def test_a_library_does_what_the_same_file_does(tmp_path):
    """Catches fields of the header in another order than those of the core."""
    own = latencies(scenario("tiny", write(tmp_path, ANY), folder=tmp_path, nodes=16))
    assert latencies(scenario("tiny", library(tmp_path, LIBRARY), folder=tmp_path, nodes=16)) == own


def test_a_library_without_the_function_is_told(tmp_path):
    given = library(tmp_path, "int other(void) { return 0; }\n")
    with pytest.raises(OdonataError, match="no function `odonata_route`"):
        scenario("tiny", given, folder=tmp_path, nodes=8).resolve()


def test_files_of_others_are_refused_where_that_is_asked_for(tmp_path, monkeypatch):
    """Catches an archive whose check runs a program that it brings."""
    monkeypatch.setenv("ODONATA_REFUSE_OWN_ROUTINGS", "1")
    (tmp_path / "note.py").write_text("open('was-run', 'w').close()\n")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(OdonataError, match="is a program"):
        scenario("tiny", {"python": "note.py"}, folder=tmp_path, nodes=8).resolve()
    assert not (tmp_path / "was-run").exists()


def test_the_check_of_an_archive_runs_its_routing_only_if_told(tmp_path):
    given = write(tmp_path, ANY)
    of = scenario("tiny", given, folder=tmp_path, nodes=8)
    (tmp_path / "s.toml").write_text(of.text)
    main = [sys.executable, "-m", "odonata"]

    def run(*arguments):
        return subprocess.run([*main, *arguments], cwd=tmp_path, capture_output=True, text=True, check=False)

    assert run("run", "s.toml", "-o", "results", "--quiet").returncode == 0
    assert run("archive", "results", "-o", "a.tar.gz").returncode == 0
    refused = run("archive", "--check", "a.tar.gz")
    assert refused.returncode != 0
    assert "mine.py" in refused.stderr
    trusted = run("archive", "--check", "--trust", "a.tar.gz")
    assert trusted.returncode == 0, trusted.stderr
    assert "are the same" in trusted.stdout
