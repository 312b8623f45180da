"""An explanation in sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING

from odonata.blame.alone import HOST, NEIGHBOUR, OTHER, OWN, PATHS
from odonata.blame.critical import LATE_RECEIVER, LATE_SENDER, TRANSFER
from odonata.text import Column, Table, html
from odonata.units import format_time

if TYPE_CHECKING:
    from collections.abc import Sequence

    from odonata.blame.alone import Beside
    from odonata.blame.causes import Cause, JobCauses
    from odonata.blame.explanation import Explanation
    from odonata.blame.programs import ProgramTime, Share
    from odonata.blame.shapley import Shapley
    from odonata.blame.without import Without

LEAST = 0.05
"""Causes with a smaller share of the waiting have no sentence (assumed)."""
MAINLY = 0.5
"""A rank is named if it causes at least this share of the waiting for late ranks, and a place if it has at least this
share of the waiting for a job (assumed)."""
DISAGREE = 2.0
"""If the time that a cause explains and the time that its absence saves differ by this factor, both are in doubt
(assumed)."""

NOTABLE = 1.02
"""Slowdown below which a job counts as undisturbed (assumed)."""
NAMED = 3
"""Most other jobs that are named."""
SAME = 0.95
"""If a job's waiting for itself alone is at least this share of that beside others, both count as the same
(assumed)."""

WINDOW = "window"
"""The wait at a NIC with a full window or a pausing pair (docs/model.md, section 9)."""

_FOR = {
    "link": "for busy links",
    "buffer": "for room in the next router's buffers",
    "source-buffer": "at its NICs, for room in the first routers",
    "source-link": "at its NICs, for the injection link",
    "queue": "behind other packets at the inputs of routers",
    "crossbar-input": "for the inputs of crossbars",
    "crossbar-output": "for the outputs of crossbars",
    "output-buffer": "for room in the output buffers of routers",
    WINDOW: "at its NICs, until packets are answered",
}


_PARTS = {
    NEIGHBOUR: "is waiting for packets of `{cause}`",
    OWN: "is waiting for its own packets, longer than alone, because {who} takes paths and room from them",
    PATHS: "is longer paths",
    HOST: "is time outside the network on its critical path",
    OTHER: "is not waiting of packets: its messages come in another order",
}


def sentences(explanation: Explanation) -> list[str]:
    """The sentences of the explanation, most important first."""
    lines = []
    beside = {entry.job: entry for entry in explanation.beside}
    for job in explanation.jobs:
        if job.job in beside:
            lines.append(compared(beside[job.job]))
        lines.append(_waiting(job))
        lines.extend(_caused(cause, beside.get(job.job)) for cause in job.causes if cause.share >= LEAST)
        lines.extend(_held_back(job))
        lines.extend(_rooted(job))
        for program in explanation.programs:
            if program.job == job.job:
                lines.extend(_program(program, job))
        lines.extend(
            f"What the ranks of `{job.job}` wait for is not known: {missing.reason}."
            for missing in explanation.left_out
            if missing.job == job.job
        )
        for entry in explanation.without:
            if entry.victim == job.job:
                lines.append(_absence(entry))
                lines.extend(_doubt(job, entry))
        lines.extend(_divided(entry) for entry in explanation.shapley if entry.victim == job.job)
        lines.extend(
            f"What the other jobs cost `{job.job}` is not divided among them: {entry.reason}."
            for entry in explanation.undivided
            if entry.job == job.job
        )
    return lines


def as_text(explanation: Explanation, width: int | None = None) -> str:
    """The sentences, and a table of the places where each cause makes each job wait."""
    lines, table = sentences(explanation), _table(explanation)
    return "\n".join(lines if table is None else [*lines, "", *table.lines(width)])


def as_html(explanation: Explanation) -> str:
    """The same for a notebook."""
    table = _table(explanation)
    return html(sentences(explanation), [] if table is None else [table])


def _table(explanation: Explanation) -> Table | None:
    """The places where each cause makes each job wait; None if there are none."""
    rows = []
    for job in explanation.jobs:
        for cause in job.causes:
            if cause.share < LEAST:
                continue
            for place in cause.places:
                share = place.ps / job.waiting_ps
                links = f"{place.links:,}"
                rows.append(
                    [cause.victim, cause.cause, place.class_, place.name, percent(share, 1), links, place.worst]
                )
    headings = [Column(name, right=False) for name in ("job", "waits for", "class", "where")]
    headings += [Column("of its waiting"), Column("links"), Column("worst link", right=False)]
    return Table(headings, rows, "where they wait most") if rows else None


def percent(share: float, places: int = 0) -> str:
    """A share in per cent."""
    return f"{100 * share:.{places}f} %"


def _waiting(job: JobCauses) -> str:
    if not job.waiting_ps:
        return f"`{job.job}` never waits."
    return f"`{job.job}`: {percent(job.waiting_share)} of the time of its packets is waiting."


def compared(entry: Beside) -> str:
    """The slowdown of a job beside the others, and the parts of the difference."""
    what = "takes" if entry.quantity == "time_ps" else "has a mean latency of"
    here, there = format_time(round(entry.with_ps), 4), format_time(round(entry.alone_ps), 4)
    names = [f"`{other}`" for other in entry.others]
    if len(names) > NAMED + 1:
        names = [*names[:NAMED], f"{len(names) - NAMED} others"]
    who = " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))
    if entry.slowdown < NOTABLE:
        return f"`{entry.job}` {what} {here} beside {who}, and {there} alone: {entry.slowdown:.2f} times as long."
    text = f"`{entry.job}` {what} {here} beside {who} instead of {there} alone: {entry.slowdown:.2f} times as long."
    lost = entry.with_ps - entry.alone_ps
    if not entry.parts:
        return (
            f"{text} Waiting for packets of {who} is {percent(entry.direct_share)} of the time of its packets; what "
            "else they cost it is known when the job is also simulated alone (`odonata explain`)."
        )
    parts = []
    for part in entry.parts:
        size = f"{'-' if part.ps < 0 else ''}{format_time(round(abs(part.ps)), 4)} ({percent(part.ps / lost)})"
        parts.append(f"{size} {_PARTS[part.kind].format(cause=part.cause, who=who)}")
    return f"{text} Of the difference of {format_time(round(lost), 4)}, {', '.join(parts)}."


def _caused(cause: Cause, beside: Beside | None = None) -> str:
    itself = cause.cause == cause.victim
    who = "itself" if itself else f"`{cause.cause}`"
    if itself and beside is not None and beside.own_alone_ps is not None and beside.own_alone_ps < SAME * cause.ps:
        also = percent(beside.own_alone_ps / cause.ps)
        who = f"its own packets (of this, {also} is there when it runs alone, too)"
    class_, most = next(iter(cause.by_class.items()))
    wait = next(iter(cause.by_wait))
    text = f"{percent(cause.share)} of this waiting is for {who}, mostly {_FOR[wait]}"
    text += f"; {percent(most / cause.ps)} of it at links of class {class_}"
    return f"{text}{_out_of(cause)}."


def _out_of(cause: Cause) -> str:
    return where_of(cause.groups, cause.all_groups, cause.places[0].group_name if cause.places else "group")


def where_of(groups: Sequence[int], all_groups: int, word: str) -> str:
    """The groups whose outgoing links explain most of the waiting, if they are few."""
    if not groups or len(groups) > all_groups / 2:
        return ""
    return f", mostly out of {word}{'s' if len(groups) > 1 else ''} {', '.join(map(str, groups))}"


def about(job: JobCauses) -> str:
    """One sentence about the main cause and place of a job's waiting: another job, if one has a notable share."""
    if not job.waiting_ps:
        return f"`{job.job}` never waits."
    others = [cause for cause in job.causes if cause.cause != job.job and cause.share >= LEAST]
    cause = others[0] if others else job.causes[0]
    who = "itself" if cause.cause == job.job else f"`{cause.cause}`"
    text = f"{percent(job.waiting_share)} of the time of the packets of `{job.job}` is waiting, and "
    return f"{text}{percent(cause.share)} of this waiting is for {who}, {_place(cause)}."


def _place(cause: Cause) -> str:
    """The main place: two groups or one group with half of the waiting, else the class of the links and the groups."""
    pairs: dict[tuple[int | None, int | None], int] = {}
    for place in cause.places:
        low, high = sorted((place.from_group, place.to_group), key=lambda group: -1 if group is None else group)
        pairs[low, high] = pairs.get((low, high), 0) + place.ps
    (first, second), ps = max(pairs.items(), key=lambda item: item[1])
    if ps >= MAINLY * cause.ps:
        some = cause.places[0]
        between = f"between {some.group_name}s {first} and {second}"
        if first is None:
            between = f"between {some.name_of(second)} and {some.name_of(first)}"
        where = between if first != second else f"in {some.name_of(first)}"
        return f"{percent(ps / cause.ps)} of that at links {where}"
    class_, most = next(iter(cause.by_class.items()))
    return f"{percent(most / cause.ps)} of that at links of class {class_}{_out_of(cause)}"


def _held_back(job: JobCauses) -> list[str]:
    """How long congestion control holds packets back at NICs, and for which job; nothing if it does not."""
    waits = [(cause, cause.by_wait.get(WINDOW, 0)) for cause in job.causes]
    held = sum(ps for _, ps in waits)
    if job.congestion_control is None or not job.waiting_ps or held < LEAST * job.waiting_ps:
        return []
    parts = []
    for cause, ps in sorted(waits, key=lambda wait: -wait[1]):
        if ps >= LEAST * held:
            whose = "its own packets" if cause.cause == job.job else f"packets of `{cause.cause}`"
            parts.append(f"{percent(ps / held)} because of queues of {whose}")
    text = f"{percent(held / job.waiting_ps)} of this waiting is at its NICs, where congestion control"
    return [f"{text} (`{job.congestion_control}`) holds packets back: {', '.join(parts)}."]


def _rooted(job: JobCauses) -> list[str]:
    """The links where the chains of full buffers end that its packets wait for; nothing without waits for room."""
    room = sum(root.ps for root in job.roots)
    if not job.waiting_ps or room < LEAST * job.waiting_ps:
        return []
    parts = []
    for root in (root for root in job.roots if root.share >= LEAST):
        whose = "its own packets" if root.cause == job.job else f"packets of `{root.cause}`"
        class_, most = next(iter(root.by_class.items()))
        # Only links between routers have groups.
        groups = "" if 2 * root.by_class.get("node", 0) > root.ps else _out_of(root)
        where = f"{percent(most / root.ps)} of class {class_}{groups}"
        parts.append(f"{percent(root.share)} at links that send {whose} ({where})")
    text = f"{percent(room / job.waiting_ps)} of this waiting is for room in full buffers."
    return [f"{text} The chains of full buffers end: {', '.join(parts)}." if parts else text]


def _program(program: ProgramTime, job: JobCauses) -> list[str]:
    """The tasks and waits of its ranks, and its critical path."""
    states = ", ".join(
        f"{percent(state.share)} {state.kind}{_late(state)}" for state in program.states if state.share >= LEAST
    )
    path = ", ".join(f"{percent(state.share)} {state.kind}" for state in program.path if state.share >= LEAST)
    text = f"Its critical path of {format_time(program.time_ps, 4)} is {path}."
    transfer = sum(state.share for state in program.path if state.kind == TRANSFER)
    whole = job.waiting_ps + job.service_ps
    others = [cause for cause in job.causes if cause.cause != job.job and whole and cause.ps / whole >= LEAST]
    if transfer >= LEAST and others:
        named = " and ".join(f"{percent(cause.ps / whole)} of its time for `{cause.cause}`" for cause in others)
        text += f" On average over all its packets, not only those of this path, a packet waits {named}."
    return [f"The time of its ranks is {states}.", text]


def _late(share: Share) -> str:
    """The late rank, if one is later than all others."""
    first = next(iter(share.ranks.items()), None)
    if share.kind not in (LATE_SENDER, LATE_RECEIVER) or first is None or first[1] < MAINLY * share.ps:
        return ""
    return f" (mainly rank {first[0]})"


def _absence(entry: Without) -> str:
    what = "time" if entry.quantity == "time_ps" else "mean latency"
    if entry.with_ps is None or entry.without_ps is None:
        which = "with" if entry.with_ps is None else "without"
        return f"Without `{entry.without}`: no comparison, because {which} it not all of `{entry.victim}` arrived."
    numbers = f"{format_time(round(entry.without_ps), 4)} instead of {format_time(round(entry.with_ps), 4)}"
    factor = f"{entry.slowdown:.2f} times as long with `{entry.without}`"
    return f"Without `{entry.without}`, the {what} of `{entry.victim}` is {numbers} ({factor})."


def _divided(entry: Shapley) -> str:
    """The loss of a job, divided among the other jobs."""
    what = "time" if entry.quantity == "time_ps" else "mean latency"
    lost = entry.with_ps - entry.alone_ps
    start = f"With all jobs, the {what} of `{entry.victim}` is {format_time(round(entry.with_ps), 4)}, and alone "
    start += format_time(round(entry.alone_ps), 4)
    if not entry.shares_ps:
        return f"{start}."
    parts = []
    for job, ps in sorted(entry.shares_ps.items(), key=lambda item: -item[1]):
        sign = "-" if ps < 0 else ""
        of_all = f" ({percent(ps / lost)})" if lost > 0 else ""
        parts.append(f"{sign}{format_time(round(abs(ps)), 4)} for `{job}`{of_all}")
    return f"{start}. The difference is divided (Shapley) into {', '.join(parts)}."


def _doubt(job: JobCauses, entry: Without) -> list[str]:
    """The pairs of jobs whose waiting and whose saving without the other job disagree."""
    if entry.with_ps is None or entry.without_ps is None or not job.waiting_ps:
        return []
    caused = sum(cause.ps for cause in job.causes if cause.cause == entry.without)
    expected = caused / (job.waiting_ps + job.service_ps)
    saved = 1 - entry.without_ps / entry.with_ps
    least, most = sorted([expected, saved])
    if most < LEAST or most < DISAGREE * max(least, 0):
        return []
    text = (
        f"Blame and absence disagree: `{entry.without}` directly causes {percent(expected)} of the time of the "
        f"packets, but without it {percent(saved)} is saved"
    )
    if saved > expected:
        return [f"{text}. It also makes `{job.job}` wait for itself, or for others that wait for it."]
    return [f"{text}. Without it, `{job.job}` waits for others instead."]
