"""Settings of Hypothesis: the same examples in every run, on every machine. A measure of work. C libraries. Reasons of
tests that were left out.

Tests must not depend on luck. `make fuzz` searches with new examples.
"""

import json
import os
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.internal.conjecture import providers

# No limits of time: how long an example takes depends on what else the machine does. No examples of earlier runs.
settings.register_profile(
    "same",
    derandomize=True,
    database=None,
    deadline=None,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
#: For `make fuzz`: `pytest --hypothesis-profile=fuzz`.
settings.register_profile("fuzz", settings.get_profile("same"), derandomize=False)
settings.load_profile("same")

_constants_of_modules = providers._get_local_constants


def _constants() -> providers.Constants:
    """Hypothesis also draws constants of all loaded modules, and these differ from process to process."""
    return providers.Constants() if settings().derandomize else _constants_of_modules()


providers._get_local_constants = _constants


#: Files and folders whose tests take longest.
SLOW = ("tests/test_readme.py", "tests/reproduce/test_command.py", "tests/study/", "tests/scheduler/")
#: Folders whose tests call cargo, which waits as long as another cargo compiles.
CARGO = ("tests/decision/", "tests/network/")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Slow tests run first, so that no process works on one of them at the end while the others have nothing to do.

    Tests that call cargo run last, when the Rust tests that `make test` compiles beside them are compiled.
    """
    items.sort(key=lambda item: (not item.nodeid.startswith(SLOW), item.nodeid.startswith(CARGO)))
    for item in items:
        if item.nodeid.startswith(CARGO):  # with many workers some come earlier, and wait
            item.add_marker(pytest.mark.timeout(900))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Says why tests were left out, each reason once; also to `make test`, which says it at its end."""
    reports = terminalreporter.stats.get("skipped", [])
    reasons = Counter(report.longrepr[2].removeprefix("Skipped: ") for report in reports)
    lines = [f"tests: {count} left out: {why}" for why, count in sorted(reasons.items())]
    for line in lines:
        terminalreporter.write_line(line)
    if lines and (file := os.environ.get("LEFT_OUT")):
        Path(file).parent.mkdir(parents=True, exist_ok=True)
        with Path(file).open("a") as left_out:
            left_out.writelines(f"{line}\n" for line in lines)


@pytest.fixture
def lines_of() -> Callable[[Callable[[], object]], int]:
    """Work that does not depend on the load of the machine: the lines of Python that a call executes.

    Every round of a loop or comprehension counts, and work inside C functions does not.
    """

    def count(call: Callable[[], object]) -> int:
        done = 0

        def trace(_: object, event: str, __: object) -> object:
            nonlocal done
            done += event == "line"
            return trace

        before = sys.gettrace()
        sys.settrace(trace)  # type: ignore[arg-type]
        try:
            call()
        finally:
            sys.settrace(before)
        return done

    return count


@pytest.fixture(scope="session")
def cargo() -> None:
    """Skips tests of C libraries where they cannot be built."""
    for tool in ("cargo", "gcc"):
        if shutil.which(tool) is None:
            pytest.skip(f"{tool} is not installed")


@pytest.fixture(scope="session")
def built(cargo: None) -> Callable[[str], Path]:
    """Builds the shared library of a crate for C programs; returns its file."""

    def build(package: str) -> Path:
        command = ["cargo", "build", "--locked", "--quiet", "--message-format=json", "--package", package]
        done = subprocess.run(command, cwd=Path(__file__).parents[1], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        artifacts = [json.loads(line) for line in done.stdout.splitlines()]
        files = [Path(f) for a in artifacts if f"#{package}@" in a.get("package_id", "") for f in a["filenames"]]
        return next(file for file in files if file.suffix == ".so")

    return build
