"""The links between the routers of a machine, for policies that look at distances and cuts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from odonata.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from odonata.machine import System
    from odonata.placement.policy import Request


class Links(NamedTuple):
    """Working links, each in both directions, in ascending order of the first router and then the second."""

    routers: int
    """Routers of the machine, also those without nodes."""
    router_of: NDArray[Any]
    """Router of each node (of its first NIC)."""
    starts: NDArray[Any]
    """Where the neighbours of each router begin in `others`; one more at the end."""
    others: NDArray[Any]
    """The neighbours, each once."""
    bandwidth: NDArray[Any]
    """The bandwidth to each of them, of all parallel links together, in millionths of a byte per second."""

    def near(self, router: int) -> slice:
        """Where the neighbours of a router are."""
        return slice(int(self.starts[router]), int(self.starts[router + 1]))

    def distances(self, start: int) -> NDArray[Any]:
        """The fewest links from a router to each other one; -1 if no path leads there."""
        import numpy as np

        distance = np.full(self.routers, -1, dtype=np.int64)
        distance[start], reached, step = 0, np.array([start]), 0
        while len(reached):
            step += 1
            beyond = np.unique(np.concatenate([self.others[self.near(int(router))] for router in reached]))
            reached = beyond[distance[beyond] < 0]
            distance[reached] = step
        return distance


def links_of(request: Request) -> Links:
    """The links of the machine of a request. Raises InputError if it is only known by its routers and groups."""
    if request.system is None:
        message = "the links of the machine are not known here, only its routers and groups"
        raise InputError(message, hint="`level-spread` needs only these")
    return _links(request.system)


def _links(system: System) -> Links:
    import numpy as np

    wired = system.describe()
    routers, peer = int(wired["routers"]), wired["slot_peer_router"]
    works = (peer >= 0) & ~wired["slot_failed"]
    pairs = wired["slot_router"][works].astype(np.int64) * routers + peer[works].astype(np.int64)
    rates = [system.table.fabric.links[name].bandwidth for name in wired["classes"]]
    each, place = np.unique(pairs, return_inverse=True)
    bandwidth = np.zeros(len(each))
    np.add.at(bandwidth, place, np.asarray(rates, dtype=float)[wired["slot_class"][works]])
    starts = np.searchsorted(each // routers, np.arange(routers + 1))
    return Links(routers, wired["node_router"].astype(np.int64), starts, each % routers, bandwidth)
