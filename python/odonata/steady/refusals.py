"""The reasons for which a run is simulated in full, before anything is simulated."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from odonata.steady.shorten import FEWEST, FEWEST_STEPS

if TYPE_CHECKING:
    from collections.abc import Mapping


def refusal(spec: Mapping[str, Any]) -> str | None:
    """Why no iterations of this run can be skipped, as the end of a sentence; `None` if some perhaps can."""
    jobs, measure = spec["jobs"], spec["measure"]
    if not spec["stop"]["jobs"]:
        return "the run ends at a time, not with a program"
    if measure["from_ps"] or measure["until_ps"] is not None:
        return "`measure.warm_up` and `measure.window` are times of the whole run"
    for job in jobs:
        if "bursts" in job:
            return f"`{job['name']}` has bursts, so its iterations do not repeat"
        if "traffic" in job and job["traffic"]["intervals"] is not None:
            return f"`{job['name']}` sends a given number of messages, not iterations of a program"
    counts = [jobs[number]["program"]["iterations"] for number in spec["stop"]["jobs"]]
    if max(counts) <= FEWEST:
        return (
            f"no program that it waits for has more than {FEWEST} iterations, or one iteration around a ring of more "
            f"than {FEWEST_STEPS} steps"
        )
    return None
