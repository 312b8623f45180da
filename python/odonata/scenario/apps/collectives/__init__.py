"""Collectives as a scenario names them: one file each, listed in `COLLECTIVES`.

What each algorithm sends is in the crate `odonata-programs`, `collective/`; `docs/applications.md` has the table.
"""

from odonata.scenario.apps.collectives.allgather import Allgather
from odonata.scenario.apps.collectives.allreduce import Allreduce
from odonata.scenario.apps.collectives.alltoall import Alltoall
from odonata.scenario.apps.collectives.barrier import Barrier
from odonata.scenario.apps.collectives.broadcast import Broadcast
from odonata.scenario.apps.collectives.collective import Collective
from odonata.scenario.apps.collectives.reduce import Reduce
from odonata.scenario.apps.collectives.reduce_scatter import ReduceScatter

#: All collectives by name.
COLLECTIVES: dict[str, type[Collective]] = {
    "broadcast": Broadcast,
    "reduce": Reduce,
    "allreduce": Allreduce,
    "allgather": Allgather,
    "reduce-scatter": ReduceScatter,
    "alltoall": Alltoall,
    "barrier": Barrier,
}

__all__ = ["COLLECTIVES", "Collective"]
