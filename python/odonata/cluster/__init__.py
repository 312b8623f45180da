"""Real clusters: reads the queue of Slurm, selects nodes for a job, analyses times of iterations, predicts tails.

This package gives one name to the functions of several packages:

| package | what it does |
|---|---|
| `odonata.queue` | jobs, nodes, switches and past jobs, from files and commands of Slurm |
| `odonata.background` | background utilisation: now, recorded, in the past, simulated |
| `odonata.allocation` | nodes for a job, its submission, where running jobs are |
| `odonata.workload` | a queue as a scenario |
| `odonata.recognition` | the network of a cluster as a system file, and back |
| `odonata.iterations` | measured times and their statistics |
| `odonata.prediction` | the tail and the time of a run before it starts |
| `odonata.probe` | measures collectives on the nodes of a job |

None of this needs the simulator. Files of other tools are recognised by their content, not by their names. A name is
imported when it is first used, so reading a queue loads no library.

Examples
--------
Three jobs run on ten nodes. The first has three nodes and the second two, of which they share one; the third has one.

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

    from odonata.allocation.allocated import Allocations, allocations
    from odonata.allocation.selection import Selection, select
    from odonata.background.history import History, read_history
    from odonata.background.utilisation import Background, background
    from odonata.iterations.analysis import Analysis, analyse
    from odonata.prediction.predictor import Prediction, Predictor, read_predictor
    from odonata.prediction.runs import Reading
    from odonata.prediction.train import train
    from odonata.prediction.when import Advice, when
    from odonata.probe import Probe, probe
    from odonata.queue.hosts import expand, fold
    from odonata.queue.listing import Listing
    from odonata.queue.records import Job, Node
    from odonata.queue.snapshot import read_nodes, read_queue
    from odonata.queue.topology import Topology, read_topology
    from odonata.recognition import Recognised, import_fabric
    from odonata.workload.book import Book, read_book
    from odonata.workload.from_queue import Workload, from_queue
    from odonata.workload.robustness import Robustness, robustness

#: Public name -> module, in `odonata`.
_LAZY = {
    "Advice": "prediction.when",
    "Allocations": "allocation.allocated",
    "Analysis": "iterations.analysis",
    "Background": "background.utilisation",
    "Book": "workload.book",
    "Robustness": "workload.robustness",
    "History": "background.history",
    "Job": "queue.records",
    "Listing": "queue.listing",
    "Node": "queue.records",
    "Prediction": "prediction.predictor",
    "Predictor": "prediction.predictor",
    "Probe": "probe",
    "Reading": "prediction.runs",
    "Recognised": "recognition",
    "Selection": "allocation.selection",
    "Topology": "queue.topology",
    "Workload": "workload.from_queue",
    "allocations": "allocation.allocated",
    "analyse": "iterations.analysis",
    "background": "background.utilisation",
    "expand": "queue.hosts",
    "fold": "queue.hosts",
    "robustness": "workload.robustness",
    "from_queue": "workload.from_queue",
    "import_fabric": "recognition",
    "probe": "probe",
    "read_book": "workload.book",
    "read_history": "background.history",
    "read_nodes": "queue.snapshot",
    "read_predictor": "prediction.predictor",
    "read_queue": "queue.snapshot",
    "read_topology": "queue.topology",
    "select": "allocation.selection",
    "train": "prediction.train",
    "when": "prediction.when",
}

__all__ = [
    "Advice",
    "Allocations",
    "Analysis",
    "Background",
    "Book",
    "History",
    "Job",
    "Listing",
    "Node",
    "Prediction",
    "Predictor",
    "Probe",
    "Reading",
    "Recognised",
    "Robustness",
    "Selection",
    "Topology",
    "Workload",
    "allocations",
    "analyse",
    "background",
    "expand",
    "fold",
    "from_queue",
    "import_fabric",
    "probe",
    "read_book",
    "read_history",
    "read_nodes",
    "read_predictor",
    "read_queue",
    "read_topology",
    "robustness",
    "select",
    "train",
    "when",
]


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"odonata.{_LAZY[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
