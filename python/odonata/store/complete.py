"""Whether the numbers of a job cover everything that was to be measured, or the run ended too early."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from odonata.store.programs import Progress


def complete(
    result: Mapping[str, Any], spec: Mapping[str, Any], job: int, background: bool, program: Progress | None
) -> bool | None:
    """Whether the measurement of a job is complete.

    A job that sends at intervals is complete if all messages of the measured time were issued and delivered. A program
    is complete if all its ranks have finished, or all iterations that began in the measured time have ended. `None` for
    a background job without end that is measured to the end of the run: it is always cut off.
    """
    what, totals, until = spec["jobs"][job], result["jobs"][job], spec["measure"]["until_ps"]
    measured_to_the_end = until is None or result["end_ps"] < until - 1
    if background and measured_to_the_end and _endless(what):
        return None
    if program is not None:
        return program.time_ps is not None or (not measured_to_the_end and program.all_measured_ended)
    if measured_to_the_end and not _all_issued(totals, what):
        return False
    return bool(totals["measured_delivered"] == totals["measured_issued"])


def _endless(job: Mapping[str, Any]) -> bool:
    return (job["program"]["iterations"] if "program" in job else job["traffic"]["intervals"]) is None


def _all_issued(totals: Mapping[str, Any], job: Mapping[str, Any]) -> bool:
    traffic = job["traffic"]
    senders = 1 if traffic["pattern"]["name"] == "broadcast" else len(job["nodes"])
    return traffic["intervals"] is not None and totals["intervals"] == traffic["intervals"] * senders
