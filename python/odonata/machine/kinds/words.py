"""Texts about the links between groups, the same for all kinds of machines."""

from odonata import units
from odonata.machine.fabric import LinkTable
from odonata.machine.kinds.pairs import Pairs


def links_between(pairs: Pairs) -> str:
    """`48`, or `2 to 4` if pairs differ."""
    least, most = pairs.range
    return f"{most}" if least == most else f"{least} to {most}"


def capacity(pairs: Pairs, nics: int, link: LinkTable, node: LinkTable) -> list[tuple[str, str]]:
    """The bandwidth from the first group to the others relative to that of its `nics`, and the bisection.

    The bisection is the bandwidth in one direction of the links between the first half of the groups and the rest.
    """
    if pairs.groups == 1:
        return []
    out, into = pairs.of_group(0) * link.bandwidth, nics * node.bandwidth
    half = pairs.groups // 2
    across = pairs.across(half) * link.bandwidth
    return [
        (
            "out of a group",
            f"{units.format_bandwidth(out, 3)}, {out / into:.0%} of what its nodes can send "
            f"({units.format_bandwidth(into, 3)})",
        ),
        (
            "bisection",
            f"{units.format_bandwidth(across, 3)} each way, {half} of {pairs.groups} groups against the rest",
        ),
    ]
