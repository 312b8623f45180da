"""The advice file, which scripts of Slurm read at the submission of a job (`packaging/submission`).

Its lines are `key value`, the first is `odonata-advice 1`, and the last `end`. A line `size N` says what holds for jobs
of at most N nodes, and more than the size before. No text of a user is in it, only names of nodes.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from odonata import files
from odonata.allocation.selection import choose, observe
from odonata.errors import InputError, shortened
from odonata.prediction.when import when

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from odonata.allocation.selection import Cluster, Selection
    from odonata.prediction.predictor import Predictor
    from odonata.queue.listing import File
    from odonata.queue.records import Job

MOST_BYTES = 1 << 14
"""Longest file that the scripts read (assumed: more than sixteen sizes need)."""
MOST_NODE_LIST = 512
"""Longest list of nodes in the file; a longer one is left out."""
MOST_SIZES = 16
MOST_WAIT_S = 366 * 86_400
"""Longest wait in the file (assumed: no user plans on more); a longer one is left out."""
_PARTITION = re.compile(r"[A-Za-z0-9_.+-]{1,100}")
_NODE_LIST = re.compile(r"[A-Za-z0-9_.,\[\]-]+")


@dataclass
class Advising:
    """Writes the advice file after each sample."""

    path: Path
    valid_s: float
    """How long what it says holds."""
    place: str = "level-spread"
    options: Mapping[str, Any] = field(default_factory=dict)
    topology: Path | None = None
    partition: str | None = None

    def __post_init__(self) -> None:
        if self.partition is not None and not _PARTITION.fullmatch(self.partition):
            given = shortened(self.partition, 40)
            raise InputError(f"--partition: expected letters, digits and `_.+-` for --advice, found `{given}`")

    def write(
        self,
        queue: File | None,
        nodes: File | None,
        b: float,
        nodes_total: int,
        predictor: Predictor | None,
        time: float,
    ) -> None:
        """Writes the file. Raises InputError or RunError if the cluster cannot be read or the file not be written."""
        seen = observe(queue=queue, nodes_file=nodes, topology=self.topology, partition=self.partition)
        text = self.text(seen, b, nodes_total, predictor, time)
        assert len(text) <= MOST_BYTES
        files.write(self.path, text)

    def text(self, seen: Cluster, b: float, nodes_total: int, predictor: Predictor | None, time: float) -> str:
        """The text of the file."""
        lines = [
            "odonata-advice 1",
            f"time {time:.0f}",
            f"valid {math.ceil(self.valid_s)}",
            f"background {b:.4f}",
            f"idle {len(seen.idle)}",
        ]
        if self.partition is not None:
            lines.append(f"partition {self.partition}")
        if predictor is not None:
            predictor = without_histories(predictor)
            lines.append(f"flag {predictor.flag_from:.4f}")
        lines += [self._size(seen, size, nodes_total, predictor, b) for size in sizes(len(seen.nodes), len(seen.idle))]
        return "\n".join([*lines, "end", ""])

    def _size(self, seen: Cluster, size: int, nodes_total: int, predictor: Predictor | None, b: float) -> str:
        words = [f"size {size}"]
        try:
            selection = choose(seen, size, self.place, self.options)
        except InputError:
            wait = until_idle(seen, size)
            return " ".join(words if wait is None or wait > MOST_WAIT_S else [*words, f"wait {math.ceil(wait)}"])
        words += ["wait 0", f"leaves {selection.leaves}", f"groups {len(selection.groups)}"]
        if predictor is not None:
            words += self._risk(predictor, seen, selection, b, nodes_total)
        if len(selection.nodelist) <= MOST_NODE_LIST and _NODE_LIST.fullmatch(selection.nodelist):
            words.append(f"nodes {selection.nodelist}")
        return " ".join(words)

    def _risk(
        self, predictor: Predictor, seen: Cluster, selection: Selection, b: float, nodes_total: int
    ) -> Iterator[str]:
        """The risk of the long tail, and when it is low; nothing if it depends on what only the user knows."""
        nodes = len(selection.nodes)
        known = {"nodes": nodes, **_spread(selection)}
        try:
            prediction = predictor.predict({**known, "b": b})
        except InputError:
            return
        yield f"risk {prediction.probability:.4f}"
        if not prediction.flagged:
            return

        def spread(free: frozenset[str], still: Sequence[Job]) -> dict[str, float]:
            then = type(seen)(seen.topology, seen.idle | free, list(still), seen.nodes)
            return _spread(choose(then, nodes, self.place, self.options))

        try:
            below = math.nextafter(predictor.flag_from, 0)
            best = when(
                predictor,
                {"nodes": nodes},
                seen.jobs,
                nodes_total,
                nodes=nodes,
                idle=seen.idle,
                usable=seen.nodes,
                spread=spread,
                run_s=1.0,  # without a meaning: the first start that keeps the risk is looked for
                risk=below,
            ).best
        except InputError:
            return
        if best is not None and best.wait_s <= MOST_WAIT_S:
            yield f"quiet {math.ceil(best.wait_s)}"


def sizes(nodes: int, idle: int) -> list[int]:
    """Sizes of jobs: powers of two, what is idle, and all nodes."""
    powers = {1 << k for k in range(1, MOST_SIZES - 1) if 1 << k < nodes}
    return sorted(size for size in powers | {idle, nodes} if 1 < size <= nodes)


def until_idle(seen: Cluster, nodes: int) -> float | None:
    """Seconds until so many nodes are idle, if running jobs end at their limits and no other starts; None if it is not
    known.
    """
    if nodes <= len(seen.idle):
        return None  # enough are idle, and the policy finds no place among them
    running = [job for job in seen.jobs if job.running]
    for at in sorted({job.left_s for job in running if job.left_s is not None}):
        still = {name for job in running if job.left_s is None or job.left_s > at for name in job.nodes}
        gone = {name for job in running for name in job.nodes} - still
        if len(seen.idle | (gone & seen.nodes)) >= nodes:
            return at
    return None


def without_histories(predictor: Predictor) -> Predictor:
    """The same predictor for any job: the probability of the tail does not depend on a job's own history."""
    history = predictor.histories[0].model_copy(update={"key": []})
    return predictor.model_copy(update={"history_of": [], "histories": [history]})


def _spread(selection: Selection) -> dict[str, float]:
    return {"groups": len(selection.groups), "leaves": selection.leaves, "neighbours": selection.neighbours}
