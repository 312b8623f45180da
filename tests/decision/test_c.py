"""The C library: its header, its numbers beside those of Python, and the example of the documentation."""

from __future__ import annotations

import ctypes
import re
import subprocess
from pathlib import Path

import pytest

import odonata as od

ROOT = Path(__file__).parents[2]
HEADER = ROOT / "crates" / "decision-c" / "include" / "odonata_decision.h"
PAGE = (ROOT / "docs" / "application-aware.md").read_text()


class Counters(ctypes.Structure):
    _fields_ = [(name, ctypes.c_uint64) for name in od.aries.Counters._fields]


@pytest.fixture
def library(component):
    library = ctypes.CDLL(str(component))
    library.odonata_policy_new.restype = ctypes.c_void_p
    library.odonata_policy_new.argtypes = [ctypes.c_char_p, ctypes.c_void_p]
    library.odonata_policy_free.argtypes = [ctypes.c_void_p]
    library.odonata_policy_select.argtypes = [ctypes.c_void_p, ctypes.c_uint64, ctypes.c_uint32, ctypes.c_void_p]
    library.odonata_policy_observe.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.POINTER(Counters)]
    library.odonata_transmission_time.restype = ctypes.c_double
    library.odonata_transmission_time.argtypes = [
        ctypes.c_uint64,
        ctypes.c_uint32,
        *[ctypes.c_double] * 2,
        ctypes.c_uint32,
    ]
    library.odonata_prefer_high_bias.argtypes = [ctypes.c_uint64, ctypes.c_uint32, *[ctypes.c_double] * 4]
    return library


def test_the_header_declares_what_the_library_exports(component):
    symbols = subprocess.check_output(["nm", "-D", "--defined-only", component], text=True)
    exported = {line.split()[-1] for line in symbols.splitlines()}
    declared = set(re.findall(r"^[\w *]*?\b(odonata_\w+)\(", HEADER.read_text(), re.M))
    assert exported == declared
    assert len(declared) == 8


@pytest.mark.parametrize(("compiler", "standard", "suffix"), [("gcc", "c99", "c"), ("g++", "c++11", "cpp")])
def test_the_header_is_clean(compiler, standard, suffix, tmp_path):
    source = tmp_path / f"a.{suffix}"
    source.write_text(f'#include "{HEADER}"\n')
    strict = ["-Wall", "-Wextra", "-Wpedantic", "-Wstrict-prototypes", "-Werror"]
    flags = strict if suffix == "c" else [flag for flag in strict if flag != "-Wstrict-prototypes"]
    subprocess.run([compiler, f"-std={standard}", *flags, "-fsyntax-only", source], check=True)


def test_settings_have_the_layout_of_the_header(component, tmp_path):
    """Catches fields in another order: the defaults are read by C through the header."""
    source, program = tmp_path / "a.c", tmp_path / "a"
    source.write_text(
        f'#include <stdio.h>\n#include "{HEADER}"\n'
        "int main(void) { odonata_settings s = {9, 9, 9, 9, 9, 9, 9, 9}; odonata_settings_default(&s);\n"
        'printf("%llu %g %g %g %llu %llu %u %u", (unsigned long long)s.threshold_bytes, s.lambda, s.sigma, s.margin,\n'
        "(unsigned long long)s.seed, (unsigned long long)s.stream, s.sample_age, s.dwell); return 0; }\n"
    )
    compiled(source, program, component)
    assert subprocess.check_output([program], text=True) == "4096 0.8 1.3 0.05 0 0 64 8"
    comments = re.findall(r"^  (?:double|uint\d+_t) \w+; +/\* ([\d.]+):", HEADER.read_text(), re.M)
    assert comments == ["4096", "0.8", "1.3", "0.05", "64", "8"]


def test_c_and_python_give_the_same_numbers(library):
    for size in (0, 1, 64, 4096, 1 << 20, 2**64 - 1):
        for get in (False, True):
            for outstanding in (None, 1024):
                ours = od.aries.transmission_time(size, latency=1234.5, stalls=0.7, get=get, outstanding=outstanding)
                assert library.odonata_transmission_time(size, int(get), 1234.5, 0.7, outstanding or 0) == ours
            ours = od.aries.prefer_high_bias(size, default=(3000, 1), high_bias=(2000, 2), get=get)
            assert library.odonata_prefer_high_bias(size, int(get), 3000, 1, 2000, 2) == ours
    assert library.odonata_prefer_high_bias(1, 0, float("nan"), 1, 2000, 2) == -1
    assert str(library.odonata_transmission_time(1, 0, -1, 0, 0)) == "nan"


@pytest.mark.parametrize("name", od.aries.policies())
def test_c_and_python_make_the_same_decisions(name, library):
    theirs, ours = library.odonata_policy_new(name.encode(), None), od.aries.Policy(name)
    for i in range(300):
        size, alltoall = (500, 3000, 9000, 70_000)[i % 4], i % 7 == 0
        observe = ctypes.c_int(-1)
        mode = library.odonata_policy_select(theirs, size, 2 * alltoall, ctypes.byref(observe))
        decision = ours.select(size, alltoall=alltoall)
        assert (f"ADAPTIVE_{mode}", bool(observe.value)) == decision
        if decision.observe:
            counters = (1000, (i * 37 % 1500) * (3 if mode == 3 else 2), 200, 200 * (2000 + 500 * (mode != 3)))
            library.odonata_policy_observe(theirs, mode, Counters(*counters))
            ours.observe(decision.mode, od.aries.Counters(*counters))
    library.odonata_policy_free(theirs)


def test_wrong_calls_are_harmless(library):
    assert library.odonata_policy_new(b"app-awar", None) is None
    assert library.odonata_policy_new(None, None) is None
    library.odonata_policy_free(None)
    library.odonata_policy_observe(None, 0, Counters())
    assert library.odonata_policy_select(None, 1, 0, None) == 0
    policy = library.odonata_policy_new(b"app-aware", None)
    library.odonata_policy_observe(policy, 77, Counters(1, 1, 1, 1))
    library.odonata_policy_observe(policy, 0, None)
    library.odonata_policy_free(policy)


def compiled(source, program, component):
    strict = ["-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror"]
    link = [f"-I{HEADER.parent}", f"-L{component.parent}", "-lodonata_decision", f"-Wl,-rpath,{component.parent}"]
    subprocess.run(["gcc", *strict, source, "-o", program, *link], check=True)


def test_the_example_of_the_documentation(component, tmp_path):
    """The page shows a C program and what it prints."""
    example, output = re.search(r"^```c\n(.*?)^```\n.*?^```text\n(.*?)^```$", PAGE, re.S | re.M).groups()
    source, program = tmp_path / "example.c", tmp_path / "example"
    source.write_text(example)
    compiled(source, program, component)
    assert subprocess.check_output([program], text=True) == output
