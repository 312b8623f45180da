"""Placement: which free nodes a job gets, and why.

A policy is a pure function of the shape of the machine, the free nodes, the number of nodes and its
options; it needs no simulator. Random policies use Odonata's own generator, so a seed always gives the same nodes.
The policies are under `policies/` and listed in `table.py`. The fixed layouts of papers (`layouts/`) and
policies of other distributions (`plugins.py`) are used in the same way.
"""

from typing import TYPE_CHECKING

from odonata.lazy import lazily

if TYPE_CHECKING:
    from odonata.placement.free import Fragmentation, fragmentation
    from odonata.placement.ids import format_ids, parse_ids
    from odonata.placement.jobs import ORDERS, Job, arrange, place_all, seed_of_job
    from odonata.placement.layouts import LAYOUTS
    from odonata.placement.placing import Placer, place, read_given, read_options
    from odonata.placement.policy import COUNT, Freedom, Option, Placement, Policy, Request
    from odonata.placement.table import POLICIES, names


def get(name: str) -> "Policy":
    """The policy of that name or alias. Raises InputError if there is none."""
    from odonata.placement.table import POLICIES

    return POLICIES.find(name)


__all__ = [
    "COUNT",
    "LAYOUTS",
    "ORDERS",
    "POLICIES",
    "Fragmentation",
    "Freedom",
    "Job",
    "Option",
    "Placement",
    "Placer",
    "Policy",
    "Request",
    "arrange",
    "format_ids",
    "fragmentation",
    "get",
    "names",
    "parse_ids",
    "place",
    "place_all",
    "read_given",
    "read_options",
    "seed_of_job",
]

__getattr__ = lazily(
    __name__,
    {
        "free": ("Fragmentation", "fragmentation"),
        "ids": ("format_ids", "parse_ids"),
        "layouts": ("LAYOUTS",),
        "placing": ("Placer", "place", "read_given", "read_options"),
        "policy": ("COUNT", "Freedom", "Option", "Placement", "Policy", "Request"),
        "jobs": ("ORDERS", "Job", "arrange", "place_all", "seed_of_job"),
        "table": ("POLICIES", "names"),
    },
)
