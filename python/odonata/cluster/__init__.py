"""Real clusters: reads the queue of Slurm, selects nodes for a job, analyses times of iterations, predicts tails.

Nothing here needs the simulator. Files of other tools are recognised by their content, not by their names. Each name is
imported when it is first used, so that reading a queue loads no library.

Examples
--------
Three jobs run on ten nodes: one on three nodes, one on two, with one node in common, and one on a single node.

>>> import odonata as od
>>> queue = folder / "squeue.txt"
>>> _ = queue.write_text("JOBID|STATE|NODELIST\\n1|R|n[1-3]\\n2|R|n[3-4]\\n3|R|n5\\n4|PD|\\n")
>>> found = od.cluster.background(queue, nodes_total=10)
>>> round(found.b1, 3), round(found.utilisation, 3)
(0.4, 0.333)
>>> od.cluster.fold(od.cluster.expand("n[08-10],n12"))
'n[08-10,12]'
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any

    from odonata.cluster.allocated import Allocations, allocations
    from odonata.cluster.analysis import Analysis, analyse
    from odonata.cluster.book import Book, read_book
    from odonata.cluster.fabric import Recognised, import_fabric
    from odonata.cluster.held import Held, holding
    from odonata.cluster.history import History, read_history
    from odonata.cluster.hosts import expand, fold
    from odonata.cluster.listing import Listing
    from odonata.cluster.prediction.predictor import Prediction, Predictor, read_predictor
    from odonata.cluster.prediction.runs import Reading
    from odonata.cluster.prediction.train import train
    from odonata.cluster.probing import Probe, probe
    from odonata.cluster.records import Job, Node
    from odonata.cluster.selection import Selection, select
    from odonata.cluster.snapshot import read_nodes, read_queue
    from odonata.cluster.topology import Topology, read_topology
    from odonata.cluster.utilisation import Background, background
    from odonata.cluster.workload import Workload, from_queue

#: Public name -> module.
_LAZY = {
    "Allocations": "allocated",
    "Analysis": "analysis",
    "Background": "utilisation",
    "Book": "book",
    "Held": "held",
    "History": "history",
    "Job": "records",
    "Listing": "listing",
    "Node": "records",
    "Prediction": "prediction.predictor",
    "Predictor": "prediction.predictor",
    "Probe": "probing",
    "Reading": "prediction.runs",
    "Recognised": "fabric",
    "Selection": "selection",
    "Topology": "topology",
    "Workload": "workload",
    "allocations": "allocated",
    "analyse": "analysis",
    "background": "utilisation",
    "expand": "hosts",
    "fold": "hosts",
    "holding": "held",
    "from_queue": "workload",
    "import_fabric": "fabric",
    "probe": "probing",
    "read_book": "book",
    "read_history": "history",
    "read_nodes": "snapshot",
    "read_predictor": "prediction.predictor",
    "read_queue": "snapshot",
    "read_topology": "topology",
    "select": "selection",
    "train": "prediction.train",
}

__all__ = [
    "Allocations",
    "Analysis",
    "Background",
    "Book",
    "Held",
    "History",
    "Job",
    "Listing",
    "Node",
    "Prediction",
    "Predictor",
    "Probe",
    "Reading",
    "Recognised",
    "Selection",
    "Topology",
    "Workload",
    "allocations",
    "analyse",
    "background",
    "expand",
    "fold",
    "from_queue",
    "holding",
    "import_fabric",
    "probe",
    "read_book",
    "read_history",
    "read_nodes",
    "read_predictor",
    "read_queue",
    "read_topology",
    "select",
    "train",
]


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"odonata.cluster.{_LAZY[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
