"""Random Routers (RDR) and Random Groups (RDG): whole routers or groups, drawn one after the other.

Source: Zhang 2018, section IV, after Jain et al. 2014 (catalogue L11). The authors' code draws with replacement from
all of them and does nothing when it meets a full one. Drawing each one with idle nodes once is equivalent.
"""

from collections.abc import Callable, Sequence
from itertools import chain, islice

from odonata.placement.free import Free
from odonata.placement.options import DEFAULT_SEED, GROUPS, SEED, freedom
from odonata.placement.policy import Placement, Policy, Request
from odonata.placement.splitmix import SplitMix64


def _policy(unit: str, acronym: str, units: Callable[[Free], Sequence[Sequence[int]]]) -> Policy:
    def place(request: Request) -> Placement:
        free, where = request.room()
        seed = request.options.get("seed", DEFAULT_SEED)
        idle = [nodes for nodes in units(free) if nodes]
        # Each has at least one free node, so `count` of them are enough.
        drawn = SplitMix64(seed).sample(idle, min(request.wanted(), len(idle)))
        nodes = list(islice(chain.from_iterable(drawn), request.wanted()))
        return Placement(nodes, f"{len(nodes):,} nodes {where}, {unit} by {unit}, drawn with seed {seed}")

    return Policy(
        name=f"random-{unit}s",
        summary=f"whole {unit}s drawn one after the other (Zhang 2018: {acronym})",
        rank_order=f"{unit}s in the order of the draw, in each ascending",
        options=(GROUPS, SEED),
        place=place,
        freedom=freedom,
        aliases=(acronym,),
    )


ROUTERS = _policy("router", "RDR", lambda free: free.routers)
WHOLE_GROUPS = _policy("group", "RDG", lambda free: free.groups)
