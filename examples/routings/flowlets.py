"""Flowlet switching (Sinha 2004; Vanini 2017, LetFlow): a flow may change its path after a pause.

A router keeps the port and the latest time of each flow, in a table by its key. Packets keep their order if the pause
is longer than the difference of the times on two paths; 500 ns is assumed.
"""

from odonata.routing import least, routing

ENTRIES = 4096


@routing(hops="diameter", keys="flow", state={"port": ENTRIES, "until": ENTRIES}, parameters={"pause": 500_000})
def flowlets(packet, ports, router):
    entry = (packet.key * 2654435761 >> 12) % ENTRIES
    picked = -1
    if router.time <= router.state.until[entry]:
        for i in range(len(ports)):
            if ports[i].port == router.state.port[entry]:
                picked = i
    if picked < 0:
        picked = least(packet, ports, router, packet.destination, router.time % 200)
    router.state.port[entry] = ports[picked].port
    router.state.until[entry] = router.time + router.parameters.pause
    return picked


@flowlets.start
def start(ports, router):  # noqa: ARG001
    router.state.until[:] = -1
