"""Predictions that were made before their results were seen stay as they were."""

import csv
import hashlib
import re
from pathlib import Path

import pytest

FROZEN = Path("validation/frozen")
README = (FROZEN / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("file", sorted(FROZEN.glob("*.csv")), ids=lambda file: file.name)
def test_a_frozen_prediction_is_the_one_that_was_committed(file: Path):
    """Catches a file that is made again: later engines may add files, and never replace one."""
    (given,) = re.findall(rf"`{re.escape(file.name)}`.*?sha256 `([0-9a-f]{{64}})`", README, re.DOTALL)[:1]
    assert hashlib.sha256(file.read_bytes()).hexdigest() == given


def test_every_question_has_one_answer():
    rows = list(csv.DictReader((FROZEN / "measured-gpu.csv").read_text(encoding="utf-8").splitlines()))
    keys = [(row["run"], row["repetition"]) for row in rows]
    assert len(keys) == len(set(keys)) > 300
    assert all(0.5 < float(row["ratio"]) < 100 for row in rows)
    assert {row["how"].partition(":")[0] for row in rows} <= {"simulated", "not simulated"}
