"""`odonata compare`: the values of an axis compared, with intervals."""

import json as json_module
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter, validators


def compare(
    study: Path,
    /,
    *,
    by: str,
    value: str | None = None,
    baseline: str | None = None,
    job: str | None = None,
    where: Annotated[list[str] | None, Parameter(negative=())] = None,
    seed: Annotated[int | None, Parameter(validator=validators.Number(gte=0))] = None,
    include_incomplete: Annotated[bool, Parameter(negative=())] = False,
    json: Annotated[bool, Parameter(negative=())] = False,
    verify: bool = True,
) -> int:
    """Compare the runs of a study by one axis, with intervals.

    For each value: the number of runs, and the median with quartiles and a 95 % bootstrap interval. Relative to the
    baseline: the ratio with its interval, the number of pairs of runs (equal in all other axes) that are better or
    worse, and the p value of Wilcoxon's signed-rank test.

    Parameters
    ----------
    study
        The folder of a study.
    by
        The axis, by its key, such as `routing` or `job.target.place`.
    value
        The column to compare: of `jobs` (`odonata show columns`), or of `runs`, such as a value under [keep]. Default:
        the first column that the study shows.
    baseline
        The value that the others are compared with. Default: the first of the axis.
    job
        The job, if several are not background.
    where
        Only runs with this value of another axis, as in `--where routing=fpar`.
    seed
        Seed of the bootstrap.
    include_incomplete
        Also latencies, times and slowdowns of runs that are cut off. They cover only the messages that arrived.
    json
        Print one JSON object instead of the table.
    verify
        Compare the files of the study with their checksums.
    """
    from odonata.analysis.compare_text import as_text
    from odonata.cli.sweep import say_engines
    from odonata.study.study import open_study
    from odonata.text import terminal_width

    seeded: dict[str, Any] = {} if seed is None else {"seed": seed}
    opened = open_study(study, verify=verify)
    say_engines(opened)
    comparison = opened.compare(
        by, value, baseline, job=job, where=_where(where or []), include_incomplete=include_incomplete, **seeded
    )
    print(json_module.dumps(comparison.as_dict()) if json else as_text(comparison, terminal_width()))
    return 0


def _where(given: list[str]) -> dict[str, str]:
    from odonata.errors import InputError

    chosen = {}
    for text in given:
        key, equals, wanted = text.partition("=")
        if not equals:
            raise InputError(f"`--where {text}` has no value", hint="write --where key=value")
        chosen[key.strip()] = wanted.strip()
    return chosen
