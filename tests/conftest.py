"""Settings of Hypothesis: new examples in every local run, the same examples if `CI` is set. And a measure of work.

A failure in a local run is fixed there; continuous integration must not depend on luck.
"""

import os
import sys
from collections.abc import Callable

import pytest
from hypothesis import settings

settings.register_profile("ci", derandomize=True)
if os.environ.get("CI"):
    settings.load_profile("ci")


#: Files and folders whose tests take longest.
SLOW = ("tests/test_readme.py", "tests/reproduce/test_command.py", "tests/study/", "tests/scheduler/")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Slow tests run first, so that no process works on one of them at the end while the others have nothing to do."""
    items.sort(key=lambda item: not item.nodeid.startswith(SLOW))


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
