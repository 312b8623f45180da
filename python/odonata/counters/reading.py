"""Files of counters, told apart by their content."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from odonata import reading
from odonata.counters import csv_form, ldms, prometheus, stamped
from odonata.counters.series import Counters, counters
from odonata.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from odonata.counters.series import Sample


def read_counters(files: Iterable[str | Path]) -> Counters:
    """Read the counters in some files: CSV, CSV of LDMS, answers of Prometheus (an object, or a list of them), or what
    `perfquery -x` and the telemetry of Slingshot's NICs print (`stamped.py`).

    Parameters
    ----------
    files
        The files; gzip may have compressed them.

    Returns
    -------
    Counters

    Raises
    ------
    InputError
        For a file that cannot be read, with its line.
    """
    files = list(files)
    if not files:
        raise InputError("no file of counters is given")
    return counters((sample for file in files for sample in _samples(file)), ", ".join(str(file) for file in files))


def _samples(file: str | Path) -> Iterator[Sample]:
    text = reading.read_output(file)
    try:
        yield from _of_text(text, _node_of(file))
    except InputError as e:
        raise e.at(file, e.line) from None


def _node_of(file: str | Path) -> str:
    """The node that the name of a file says."""
    name = Path(file).name
    for ending in (".gz", ".txt", ".log", ".cxi", ".perfquery"):
        name = name.removesuffix(ending)
    return name


def _of_text(text: str, node: str) -> Iterator[Sample]:
    if text.lstrip()[0] in "{[":
        answers = reading.parse_json(text)
        return prometheus.samples(answers if isinstance(answers, list) else [answers])
    first = reading.lines(text)[0]
    if ldms.is_ldms(first):
        return ldms.samples(text)
    if csv_form.is_csv(first):
        return csv_form.samples(text)
    if stamped.is_stamped(text):
        return stamped.samples(text, node)
    raise InputError(
        "not a file of counters",
        line=1,
        hint="CSV with columns `time`, `node`, `sent` and `received`, CSV of LDMS, an answer of Prometheus in JSON, "
        "`perfquery -x` with times, or telemetry of `/sys/class/cxi`",
    )
