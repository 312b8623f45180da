"""Questions about runs whose results are not known: what is read, simulated and written."""

from __future__ import annotations

import csv
from dataclasses import replace
from typing import TYPE_CHECKING

import polars as pl
import pytest

from odonata.reproduce.placement.predict import MANY, SHORTER, Question, answer, predict, questions

if TYPE_CHECKING:
    from pathlib import Path

ASKED = Question("r", 1, "leonardo", "ccl", "alltoall", 1, "incast", "mpi", "four", (0, 20), (40, 60))


def gz(path: Path, columns: str, *rows: str) -> None:
    pl.read_csv("\n".join([columns, *rows]).encode()).write_csv(path, compression="gzip")


def folder(where: Path) -> Path:
    gz(
        where / "questions.csv.gz",
        "run,repetition,machine,library,operation,size_bytes,aggressor,aggressor_library,mpi_ports,allocation",
        "b,2,leonardo,ccl,alltoall,1,incast,mpi,port of its rank,a2",
        "b,1,leonardo,ccl,alltoall,1,incast,mpi,two ports shared,a1",
        "c,1,lumi,ccl,allreduce,1,incast,mpi,,a1",
        "d,1,leonardo,ccl,alltoall,1,incast,mpi,,unknown",
    )
    nodes = [f"a{k},{role},{at},{10 * k + at}" for k in (1, 2) for role in ("victim", "aggressor") for at in (1, 0)]
    gz(where / "allocations.csv.gz", "allocation,role,position,preset_node", *nodes, "unknown,victim,0,")
    return where


def test_questions_have_the_nodes_of_their_ranks_in_order(tmp_path: Path) -> None:
    asked = list(questions(folder(tmp_path)))
    assert [(q.run, q.repetition, q.ports) for q in asked] == [("b", 1, "two"), ("b", 2, "four"), ("c", 1, "two")]
    assert asked[0].victims == (10, 11), "ranks by position; a node that is not known leaves out its run"


@pytest.mark.parametrize(
    ("changes", "app", "iterations"),
    [
        ({}, "1 B", MANY),
        ({"size": 16 << 20}, f"{256 << 10} B", SHORTER["ccl", "alltoall"][1]),
        ({"size": 16 << 20, "library": "gpu-mpi"}, f"{128 << 10} B", SHORTER["gpu-mpi", "alltoall"][1]),
    ],
)
def test_large_messages_are_shortened_and_small_ones_repeated(changes: dict, app: str, iterations: int) -> None:
    job = replace(ASKED, **changes).victim()
    assert (job["app"]["message"], job["iterations"]) == (app, iterations)
    assert ("overhead" in job) == (changes.get("library") == "gpu-mpi")


def test_answers_are_simulated_and_written_in_the_order_of_the_questions(tmp_path: Path) -> None:
    other = replace(ASKED, run="s", machine="lumi")
    predict([ASKED, other], tmp_path / "out.csv", workers=1)
    first, second = csv.DictReader((tmp_path / "out.csv").read_text().splitlines())
    assert (first["run"], first["how"]) == ("r", "simulated")
    assert float(first["ratio"]) > 0.9
    assert float(first["alone_us"]) > 1
    assert (second["ratio"], second["alone_us"]) == ("1.0000", "")
    assert answer(ASKED) == {"run": "r", "repetition": 1, **{k: first[k] for k in ("ratio", "alone_us", "how")}}
