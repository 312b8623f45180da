"""`odonata cluster week`: what jobs lost to neighbours, and how right predictions were, from the records of `watch`."""

import json as json_module
import sys
from datetime import datetime
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter, validators

from odonata.cli.cluster_options import Json, Several
from odonata.errors import InputError


def week(
    records: Path,
    /,
    *,
    begin: Annotated[str | None, Parameter(name="--from")] = None,
    to: str | None = None,
    jobs: Path | None = None,
    cluster: str | None = None,
    zone: str | None = None,
    column: Several = None,
    communicates: Annotated[float, Parameter(validator=validators.Number(gte=0, lte=1))] = 1.0,
    html: Path | None = None,
    force: Annotated[bool, Parameter(negative=())] = False,
    json: Json = False,
) -> int:
    """Say which jobs lost how many node-hours to neighbours, and how right predictions were, from records of `watch`.

    A simulation stands for the time half-way to the one before and to the next one. A job loses its nodes times the
    part of that time by which its communication is longer than alone.

    Parameters
    ----------
    records
        The folder that `odonata cluster watch` writes.
    begin
        First time, such as `2026-05-01T12:00:00Z`, or a day, from 0 o'clock UTC (default: seven days before the last).
    to
        Last time (default: seven days after --from, but at most the last of the records).
    jobs
        Past jobs: `sacct --parsable2`, `sacct --json`, an accounting log of PBS, a PM100 job table. Their start and end
        limit what they lost, and their run times say how right predictions were.
    cluster
        With --jobs: which cluster, where the file lists several.
    zone
        With --jobs: time zone of its times where they have none, such as `Europe/Rome` (default: UTC).
    column
        With --jobs: what one of its columns is, for any table, as in `--column start=begin`; may be repeated.
    communicates
        Share of a run alone that is communication (default: 1, assumed: the most that it can lose).
    html
        Also write a page to this file (`.html`).
    force
        Overwrite a page with different contents.
    """
    from odonata import files
    from odonata.cli.arguments import pairs
    from odonata.cli.cluster_traffic import zone_of
    from odonata.monitor.week import week as of_records
    from odonata.monitor.week_text import as_page, as_text
    from odonata.queue.accounting import read_runs
    from odonata.text import terminal_width

    if html is not None and html.suffix.lower() not in (".html", ".htm"):
        raise InputError(f"--html: expected a file that ends in `.html`, found `{html}`")
    if html is not None:
        files.check_new(html, "--html")
    if jobs is None:
        for option, given in (("--cluster", cluster), ("--zone", zone), ("--column", column)):
            if given is not None:
                raise InputError(f"{option} goes with --jobs")
    runs = (
        None
        if jobs is None
        else read_runs(
            jobs, cluster=cluster, zone=zone_of(zone), columns=pairs(column or [], "--column start=begin")
        ).runs
    )
    of = of_records(records, _moment(begin, "--from"), _moment(to, "--to"), runs, communicates)
    if html is not None:
        files.write_new(html, as_page(of), force=force)
    print(json_module.dumps(of.as_dict()) if json else as_text(of, terminal_width()))
    if html is not None:
        print(f"{html} written", file=sys.stderr)
    return 0


def _moment(text: str | None, option: str) -> datetime | None:
    from datetime import UTC

    from odonata.counters.values import second_of_option
    from odonata.errors import shortened

    if text is None:
        return None
    try:
        return datetime.fromtimestamp(second_of_option(text), UTC)
    except InputError as problem:
        raise problem.at(option) from None
    except (ValueError, OverflowError, OSError):
        raise InputError(f"{option}: expected a time from the year 1 to 9999, found `{shortened(text, 40)}`") from None
