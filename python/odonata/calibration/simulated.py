"""Simulated times of measured configurations."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from odonata.errors import InputError
from odonata.machine import core
from odonata.scenario import Scenario
from odonata.scenario.programs import with_calls

if TYPE_CHECKING:
    from collections.abc import Sequence

    from odonata.calibration.measurements import Configuration
    from odonata.machine.host import HostTable

#: Nodes of a job are drawn from the whole machine: assumed, as the file does not say them.
PLACE = {"policy": "random-nodes", "seed": 1}


@dataclass
class Simulator:
    """Simulates configurations on an empty system, each once for each choice of costs."""

    system: str | dict[str, Any]
    workers: int = 1
    _specs: dict[Configuration, tuple[dict[str, Any], dict[str, Any]]] = field(default_factory=dict)
    _known: dict[tuple[Configuration, str], float] = field(default_factory=dict)

    def times(self, wanted: Sequence[tuple[Configuration, HostTable]]) -> list[float]:
        """Time of each configuration with its costs: from the begin to the end of the last rank, in picoseconds.

        Raises InputError for a configuration that the system cannot hold.
        """
        keys = [(of, json.dumps(host.document())) for of, host in wanted]
        new = {key: host for key, (_, host) in zip(keys, wanted, strict=True) if key not in self._known}
        for of, _ in new:
            self._resolved(of)
        with ThreadPoolExecutor(self.workers) as pool:
            made = pool.map(lambda item: self._run(item[0][0], item[1]), new.items())
            self._known |= dict(zip(new, made, strict=True))
        return [self._known[key] for key in keys]

    def _run(self, of: Configuration, host: HostTable) -> float:
        spec, body = self._specs[of]
        [job] = spec["jobs"]
        program = {**job["program"], **host.costs(), "body": with_calls(body, host.call)}
        for key, given in (("by_size", host.by_size), ("combine_by_size", host.reduce_by_size)):
            if not given:
                program.pop(key, None)
        result = core.run({**spec, "jobs": [{**job, "program": program}]})
        return float(result["ranks"]["finish_ps"].max())

    def _resolved(self, of: Configuration) -> None:
        if of in self._specs:
            return
        app: dict[str, Any]
        if of.collective == "ping-pong":
            app = {"motif": "ping-pong", "message": f"{of.bytes} B"}
        else:
            app = {"collective": of.collective}
            if of.collective != "barrier":
                app["message"] = f"{of.bytes} B"
            if of.algorithm:
                app["algorithm"] = of.algorithm
        job = {"name": "measured", "nodes": of.nodes, "ranks_per_node": of.ranks_per_node, "place": PLACE, "app": app}
        data = {"system": self.system, "job": [{**job, "overhead": "none"}], "run": {"seed": 1}}
        try:
            spec = Scenario.of(data).resolve().spec
        except InputError as e:
            raise InputError(f"{of.label} on {of.nodes:,} nodes: {e.message}", hint=e.hint) from None
        self._specs[of] = spec, spec["jobs"][0]["program"]["body"]


def control_ps(system: str | dict[str, Any], size: int) -> float:
    """The time of a control message between two neighbours, without costs, in picoseconds. Raises InputError."""
    app = {"motif": "ping-pong", "message": f"{size} B"}
    job = {"name": "pair", "nodes": 2, "place": "contiguous", "app": app, "overhead": "none"}
    spec = Scenario.of({"system": system, "job": [job], "run": {"seed": 1}}).resolve().spec
    return float(core.run(spec)["ranks"]["finish_ps"].max()) / 2
