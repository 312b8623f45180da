"""Limits on the instructions of the simulator as the Rust tests build it: `make test-instructions`.

`odonata bench --limits` counts those of the optimised simulator, which `make test` does not build. These runs are
shorter, and are made by the example `hops` of the crate `odonata-sim`, so that they take seconds.
"""

import os
import platform
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from odonata.cli.bench import resolved_file
from odonata.cli.bench_instructions import CASES, above, as_text, count, read_limits
from odonata.errors import RunError

LIMITS = Path("benches/instructions-tests.toml")
RANKS = 32
"""Of the programs."""
SHORT = {
    **{name: replace(CASES[name], lengths=(2, 5)) for name in ("main", "occupancy")},
    "all-to-all": replace(
        CASES["all-to-all"], lengths=(2, 12), overrides=(f"job.target.nodes={RANKS}",), messages=RANKS * (RANKS - 1)
    ),
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
    limits = read_limits(LIMITS)
    counted = count({name: SHORT[name] for name in limits}, resolved_file, run, file=HOPS.name)
    print(as_text(counted))
    broken = above(counted, limits)
    for sentence in broken:
        print(f"error: {sentence} ({LIMITS})", file=sys.stderr)
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
