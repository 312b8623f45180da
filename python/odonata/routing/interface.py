"""What the functions of a routing see: the fields of packets, ports, routers and answers.

They are those of `crates/sim/src/routing/custom/functions.rs`, and of `odonata_routing.h` for libraries. All have eight
bytes. In Python, the fields that are addresses are arrays of the same name.
"""

import numpy as np

NOTHING = -1
"""`packet.memory` of a packet that remembers nothing."""
RAISED = -(2**63)
"""What a function returns to the core if it has raised an exception."""

PACKET = np.dtype(
    [
        ("key", np.int64),
        ("hop", np.int64),
        ("hops_left", np.int64),
        ("destination", np.int64),
        ("bytes", np.int64),
        ("came_from", np.int64),
        ("memory", np.int64),
        ("answer", np.float64),
    ]
)
"""A packet at a router.

`key`: from it come its random numbers (`random`). `hop`: links between routers that it has taken. `hops_left`: those
that it may still take. `destination`: the router of its destination. `bytes`: its payload. `came_from`: the port by
which it came. `memory`: a number from 0 to 2^32 - 2 that goes with the packet, -1 at first; a function may write it.
`answer`: what the router before learns of this decision; a function may write it.
"""

PORT = np.dtype(
    [
        ("port", np.int64),
        ("router", np.int64),
        ("links", np.int64),
        ("minimal", np.int64),
        ("load", np.int64),
        ("link_class", np.int64),
    ]
)
"""A port by which the packet may leave.

`port`: its number. `router`: the router at the other end. `links`: fewest links between routers from there to the
destination. `minimal`: 1 if it leads nearer to the destination, else 0. `load`: its load by the congestion metric of
the run, in picoseconds. `link_class`: the class of its link, from 1 on.
"""

ROUTER = np.dtype(
    [
        ("router", np.int64),
        ("time", np.int64),
        ("routers", np.int64),
        ("state", np.int64),
        ("links", np.int64),
        ("groups", np.int64),
        ("ends", np.int64),
        ("end_count", np.int64),
    ]
)
"""The router, and the tables of its machine.

`router`: its number. `time`: in picoseconds. `routers`: those of the machine. `state`: the router's own numbers.
`links`: fewest links between two routers, an array of (routers, routers), 255 without a path. `groups`: the group of
each router, -1 for none. `ends`: the routers with nodes, ascending.
"""

ANSWER = np.dtype(
    [
        ("port", np.int64),
        ("router", np.int64),
        ("destination", np.int64),
        ("delay", np.int64),
        ("answer", np.float64),
        ("last", np.int64),
        ("memory", np.int64),
    ]
)
"""What a router learns of a packet that it has sent.

`port`: by which it was sent. `router`: the router at the other end. `destination`: the router of its destination.
`delay`: from the decision here to that at the other router, in picoseconds. `answer`: what the function wrote there,
0 at the last router. `last`: 1 if that is the router of the destination, else 0. `memory`: the memory with which the
packet was sent.
"""
