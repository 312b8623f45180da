"""Tests do not depend on luck: their examples are the same in every run, process and machine."""

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
#: A property, and what Hypothesis draws for it.
DRAWN = """\
import sys
sys.path.insert(0, {root!r})
{before}
import tests.conftest
from hypothesis import given, settings, strategies as st
if {profile!r}:
    settings.load_profile({profile!r})
seen = []
@given(st.integers(), st.text(), st.floats(), st.binary(), st.lists(st.sampled_from(range(10**6))))
def drawn(a, b, c, d, e):
    seen.append((a, b, c, d, e))
drawn()
print(repr(seen))
"""


def drawn(folder: Path, profile: str = "", before: str = "", **environment: str) -> str:
    file = folder / "drawn.py"
    file.write_text(DRAWN.format(root=str(ROOT), before=before, profile=profile))
    usual = {key: value for key, value in os.environ.items() if key not in ("CI", "PYTHONHASHSEED")}
    command = [sys.executable, str(file)]
    done = subprocess.run(command, env=usual | environment, cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout


def test_every_process_draws_the_same_examples(tmp_path):
    """Whatever the environment, and whatever modules with constants are loaded."""
    first = drawn(tmp_path)
    assert first.count("(") > 90
    modules = "import odonata.messages, odonata.scenario.scenario, odonata.recognition, odonata.queue.accounting"
    for before in ("", modules):
        assert drawn(tmp_path, before=before, CI="true", PYTHONHASHSEED="7") == first
    assert drawn(tmp_path, before=modules, PYTHONHASHSEED="8") == first


def test_the_profile_of_make_fuzz_draws_new_ones(tmp_path):
    assert drawn(tmp_path, "fuzz") != drawn(tmp_path, "fuzz")
    assert drawn(tmp_path, "fuzz", CI="true") != drawn(tmp_path, "fuzz", CI="true")


def test_no_test_leaves_the_profile():
    """A profile or a seed of its own would take a test out of `make fuzz`, or bring luck back."""
    files = set((ROOT / "tests").rglob("*.py")) - {Path(__file__), ROOT / "tests" / "conftest.py"}
    leaves = re.compile(r"load_profile|register_profile|derandomize|@seed\(|deadline=")
    assert [file for file in files if "hypothesis" in (text := file.read_text()) and leaves.search(text)] == []


def test_proptest_draws_the_same_examples_unless_told():
    """Cargo sets the seed of Proptest for all tests; a variable of the environment goes before it."""
    config = (ROOT / ".cargo" / "config.toml").read_text()
    assert re.search(r'^\[env\]\nPROPTEST_RNG_SEED = "\d+"$', config, re.MULTILINE)
    crates = {file.parent.name for file in ROOT.glob("crates/*/Cargo.toml") if "proptest" in file.read_text()}
    makefile = (ROOT / "Makefile").read_text()
    rule = makefile[makefile.index("\nfuzz:") :].partition("\n\n")[0]
    assert set(re.findall(r"-p odonata-(\w+)", rule)) == crates
    assert "PROPTEST_RNG_SEED=" in rule
