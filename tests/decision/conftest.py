"""Libraries for C programs, built once; the values of Rust's debug profile are those of a release."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def built(package: str) -> Path:
    """The shared library of a crate."""
    command = ["cargo", "build", "--locked", "--quiet", "--message-format=json", "--package", package]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    artifacts = [json.loads(line) for line in done.stdout.splitlines()]
    files = [Path(f) for a in artifacts if f"#{package}@" in a.get("package_id", "") for f in a["filenames"]]
    return next(file for file in files if file.suffix == ".so")


@pytest.fixture(scope="session")
def cargo() -> None:
    for tool in ("cargo", "gcc"):
        if shutil.which(tool) is None:
            pytest.skip(f"{tool} is not installed")


@pytest.fixture(scope="session")
def component(cargo: None) -> Path:
    """`libodonata_decision.so`."""
    return built("odonata-decision-c")
