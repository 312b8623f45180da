"""The C library of the network whose caller issues the messages, and the front end for ASTRA-sim.

ASTRA-sim itself is not here: `stand_in` has what the front end uses of it.
"""

from __future__ import annotations

import importlib.util
import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
HEADER = ROOT / "crates" / "network-c" / "include" / "odonata_network.h"
FRONT_END = ROOT / "integrations" / "astra-sim"
STRICT = ["-Wall", "-Wextra", "-Wpedantic", "-Werror"]


@pytest.fixture(scope="module")
def library(built):
    return built("odonata-network-c")


@pytest.fixture(scope="module")
def specification():
    spec = importlib.util.spec_from_file_location("specification", FRONT_END / "specification.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def network(specification, tmp_path):
    """A specification of `tiny` with four ranks, two on each leaf."""
    file = tmp_path / "network.json"
    file.write_text(json.dumps(specification.specification("tiny", 4, routing="minimal")))
    return file


def compiled(compiler, sources, includes, library, program):
    link = [f"-L{library.parent}", "-lodonata_network", f"-Wl,-rpath,{library.parent}"]
    command = [*compiler, *STRICT, *sources, *(f"-I{include}" for include in includes), "-o", program, *link]
    subprocess.run(command, check=True)
    return program


@pytest.fixture(scope="module")
def front_end(library, tmp_path_factory):
    if shutil.which("g++") is None:
        pytest.skip("g++ is not installed")
    sources, includes = [HERE / "front_end.cc", FRONT_END / "network.cc"], [FRONT_END, HEADER.parent, HERE / "stand_in"]
    return compiled(
        ["g++", "-std=c++17"], sources, includes, library, tmp_path_factory.mktemp("front-end") / "front_end"
    )


def test_the_header_declares_what_the_library_exports(library):
    symbols = subprocess.check_output(["nm", "-D", "--defined-only", library], text=True)
    exported = {line.split()[-1] for line in symbols.splitlines() if "odonata_" in line}
    declared = set(re.findall(r"^[\w *]*?\b(odonata_\w+)\(", HEADER.read_text(), re.M))
    assert exported == declared
    assert len(declared) == 7


@pytest.mark.parametrize(("compiler", "standard", "suffix"), [("gcc", "c99", "c"), ("g++", "c++11", "cpp")])
def test_the_header_is_clean(cargo, compiler, standard, suffix, tmp_path):
    source = tmp_path / f"a.{suffix}"
    source.write_text(f'#include "{HEADER}"\n')
    subprocess.run([compiler, f"-std={standard}", *STRICT, "-fsyntax-only", source], check=True)


def test_a_c_program_plays_ping_pong(library, network, tmp_path):
    """The node links of `tiny` carry 16 GiB/s without latency, and a router takes 100 ns."""
    program = compiled(["gcc", "-std=c99"], [HERE / "driver.c"], [HEADER.parent], library, tmp_path / "driver")
    way = 2 * -(-1000 * 10**12 // (16 * 2**30)) + 100_000
    lines = subprocess.check_output([program, network], text=True).splitlines()
    assert lines == [
        "4 ranks at 0",
        "timer 0",
        "1000 timer 0",
        *(f"{1000 + i * way} delivery {i}" for i in (1, 2, 3)),
        f"-1 at_ps: out-of-range (found = 0, least = {1000 + 3 * way}, most = {2**63 - 1})",
        f"-1 at_ps: out-of-range (found = 0, least = {1000 + 3 * way}, most = {2**63 - 1})",
        "0",
        "0",
        "-1 no-such-job (job = 5)",
        "-1 unreadable-specification (problem = `EOF while parsing an object at line 1 column 1`)",
        "-1 unreada",
        "-1 expected a specification and a function to call, found null",
        "-1",
    ]


def ran(front_end, network, name):
    return subprocess.run([front_end, network, name], capture_output=True, text=True).stdout.splitlines()


def test_sends_and_receives_of_a_tag_meet_in_their_order(front_end, network):
    """Catches a receive that meets the wrong message, is lost, or is called in the call that asks for it."""
    bytes_ps = -(-1000 * 10**12 // (16 * 2**30))
    first, second = (f"{(2 * bytes_ps + 100_000 + i * bytes_ps) / 1000:.3f}" for i in (0, 1))
    assert ran(front_end, network, "matching") == [
        f"{first} first send",
        f"{first} first receive",
        f"{second} second send",
        "5000.500 asked",
        "5000.500 second receive",
        "4 ranks, 2 sent, 0 unmatched",
    ]


def test_only_the_same_sender_tag_and_size_match(front_end, network):
    lines = ran(front_end, network, "strangers")
    assert sorted(line.split(maxsplit=1)[1] for line in lines[:-1]) == ["other sender", "other size", "other tag"]
    assert lines[-1] == "4 ranks, 3 sent, 4 unmatched"


def test_timers_of_a_time_keep_their_order(front_end, network):
    lines = ran(front_end, network, "timers")
    assert lines[:-1] == ["1.000 outer", "1.000 beside", "1.000 inner", "2.000 later"]


def test_errors_reach_the_caller_through_the_c_library(front_end, network):
    assert ran(front_end, network, "to_itself") == ["error: Odonata: to: same-node (node = 1)"]
    assert ran(front_end, network, "thrown") == ["error: thrown by the work"]
    network.write_text("[]")
    assert ran(front_end, network, "timers")[0].startswith("error: Odonata: unreadable-specification")


def test_a_specification_has_the_nodes_of_the_npus(specification, capsys):
    spec = specification.specification("tiny", 8, routing="minimal", place="random", seed=3)
    assert (len(set(spec["jobs"][0]["nodes"])), spec["routing"]["name"], spec["seed"]) == (8, "minimal", 3)
    assert specification.main(["tiny", "4"]) == 0
    assert json.loads(capsys.readouterr().out)["jobs"][0]["nodes"] == [0, 1, 2, 3]
    assert specification.main(["tinny", "4"]) == 1
    assert "did you mean `tiny`?" in capsys.readouterr().err


def test_the_switch_has_the_numbers_of_the_ring(specification):
    spec = specification.specification(str(FRONT_END / "switch.toml"), 16)
    link = spec["fabric"]["links"]["node"]
    assert link["bandwidth"] / 1e6 / 2**30 == 50
    assert 2 * link["latency_ps"] + spec["fabric"]["router_delay_ps"] == 500_000
