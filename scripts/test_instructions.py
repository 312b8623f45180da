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


def main() -> int:
    """0, 1 if there are more instructions than a limit."""
    if platform.machine() != "x86_64":
        print(f"test-instructions: the limits are for x86_64, not for {platform.machine()}, so nothing is counted")
        return 0
    if shutil.which("valgrind") is None:
        print("test-instructions: valgrind is not installed, so nothing is counted (make system-deps)")
        return 0
    limits = read_limits(LIMITS)
    counted = count({name: SHORT[name] for name in limits}, resolved_file, run, file=HOPS.name)
    print(as_text(counted))
    broken = above(counted, limits)
    for sentence in broken:
        print(f"error: {sentence} ({LIMITS})", file=sys.stderr)
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
