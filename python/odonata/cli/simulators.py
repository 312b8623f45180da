"""Published simulators that `compat` names: what they are, and how they differ from the model of docs/model.md.

The differences are those of `crates/codes2019/src/lib.rs`; `odonata show codes-2019` prints them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True)
class Compat:
    """A published simulator."""

    about: str
    source: str
    differences: Mapping[str, str]
    """Subject -> how it is there, in place of docs/model.md."""
    refuses: str
    """What a scenario may not have beside it."""


COMPATS: Mapping[str, Compat] = {
    "codes-2019": Compat(
        about="The simulator of Kang 2019 as its authors ran it, defects included: near saturation the published "
        "latencies depend on how it worked, not on the network that it describes",
        source="Kang 2019, section 3.1; the public code of CODES of July 2019 (dragonfly-plus.C, model-net-lp.c): "
        "facts only",
        differences={
            "buffer": "one joint buffer for each output and channel: the sender's output queue, the wire, and the wait "
            "at the next router until it admits the packet to its own output; room is counted in full packets",
            "no room": "a packet waits at the router in order of arrival, keeps its room upstream, and counts in the "
            "score of the port",
            "credit": "returns when the next router admits the packet, after the time of 8 B on a local link",
            "router delay": "after the wire, also towards a node; the route is decided on arrival",
            "channels": "the last hop keeps the channel of the packet; channel 0 goes before channel 1, which "
            '`compat_without = ["channel-priority"]` repairs',
            "channel switch": "the authors' code has it at the intermediate leaf (`channel_switch = "
            '"intermediate-leaf"`), so that packets can wait for each other in a cycle; the default is the paper\'s',
            "score": "the bytes of all channels over their buffers in whole percent, rounded down; a port at the "
            "threshold is free (default of `compare`)",
            "least-scored port": "drawn among the running minima of a scan in the order of ports, not among the "
            'minima, so ports of low numbers carry more; repaired by `compat_without = ["running-minima"]`',
            "NIC": "10 ns for each message in a sequencer of its own; it ignores credits, so packets pile up at the "
            'leaf; repaired by `compat_without = ["nic-without-credits"]`',
            "ties": "every step takes an additional random part of a nanosecond",
        },
        refuses="other machines than a complete Dragonfly+, routings other than fpar, prog-adaptive and minimal, "
        "programs and traces, routings of single jobs, congestion metrics, failures, congestion control, traffic "
        "classes, and the measurements `blame`, `series` and `operations`",
    ),
}
"""Value of `compat` -> the simulator."""
