"""Limits on the instructions of the simulator as the Rust tests build it: `make test-instructions`.

`odonata bench --limits` counts those of the optimised simulator, which `make test` does not build. These runs are
shorter, and are made by the example `hops` of the crate `odonata-sim`, so that they take seconds.
"""

import json
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from odonata.cli.bench import resolved_file
from odonata.cli.bench_instructions import CASES, above, as_text, count, read_limits
from odonata.errors import RunError

LIMITS = Path("benches/instructions-tests.toml")
OWN = "own-routing"
"""The case whose routing is a function behind the interface for routings of one's own, compiled into the example."""
OWN_ROUTING = {"name": "custom", "program": "test-any", "hops": 3, "state": 0}
RANKS = 32
"""Of the programs."""
SHORT = {
    **{name: replace(CASES[name], lengths=(2, 5)) for name in ("main", "occupancy")},
    "all-to-all": replace(
        CASES["all-to-all"], lengths=(2, 12), overrides=(f"job.target.nodes={RANKS}",), messages=RANKS * (RANKS - 1)
    ),
    "ring-channels": replace(
        CASES["ring-channels"], overrides=(*CASES["ring-channels"].overrides, "job.target.nodes=8"), lengths=(1, 3)
    ),
    "acknowledged": replace(
        CASES["acknowledged"],
        overrides=(*CASES["acknowledged"].overrides, "job.target.nodes=144"),
        lengths=(1, 2),
    ),
    OWN: replace(CASES["main"], lengths=(1, 2)),
}
HOPS = Path(os.environ.get("CARGO_TARGET_DIR", "target")) / "debug/examples/hops"


def run(wrapper: list[str], spec: str) -> tuple[dict[str, Any], str]:
    """Simulates a specification on one thread."""
    file = Path(wrapper[-1].partition("=")[2]).with_name("spec.json")
    file.write_text(spec)
    done = subprocess.run([*wrapper, HOPS, file, "wheel"], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RunError(f"{HOPS} failed: {done.stderr[-1000:]}")
    name, hops, *_ = done.stdout.split()
    assert name == "packet_hops", done.stdout
    return {"packet_hops": hops}, done.stderr


def spec_of(case: str) -> Callable[[str, list[str]], tuple[str, str]]:
    """From a file and its changes to the id and the specification of a case."""

    def resolved(file: str, overrides: list[str]) -> tuple[str, str]:
        run_id, spec = resolved_file(file, overrides)
        if case != OWN:
            return run_id, spec
        given = json.loads(spec)
        given["routing"], given["fabric"]["channels"] = OWN_ROUTING, OWN_ROUTING["hops"]
        return run_id, json.dumps(given)

    return resolved


def leave_out(why: str) -> int:
    """Says why nothing is counted, also to `make test`. No failure."""
    said = f"test-instructions: {why}, so nothing is counted"
    print(said)
    if file := os.environ.get("LEFT_OUT"):
        Path(file).parent.mkdir(parents=True, exist_ok=True)
        with Path(file).open("a") as left_out:
            print(said, file=left_out)
    return 0


def main() -> int:
    """0, 1 if there are more instructions than a limit."""
    if platform.machine() != "x86_64":
        return leave_out(f"the limits are for x86_64, not for {platform.machine()}")
    if shutil.which("valgrind") is None:
        return leave_out("valgrind is not installed (make system-deps installs it)")
    limits = read_limits(LIMITS, SHORT)
    counted = {name: count({name: SHORT[name]}, spec_of(name), run, file=HOPS.name)[name] for name in limits}
    print(as_text(counted, SHORT))
    broken = above(counted, limits, SHORT)
    for sentence in broken:
        print(f"error: {sentence} ({LIMITS})", file=sys.stderr)
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
