"""Q-adaptive routing (Kang, Wang and Lan, HPDC 2021) on a dragonfly with one link between two groups.

Each router learns, for each group and each of the source router's nodes, the time to that group by each of its ports.
Times are in picoseconds. A packet takes at most five links.
"""

from numba import njit

from odonata.routing import random, routing

# What `memory` holds: the source's group times this, plus the port of the source's node.
NODES = 1024


@njit
def port_to(ports, destination, gateway):
    """The position of the port towards a router of this group, or towards the link to another group."""
    for i in range(len(ports)):
        if ports[i].router == destination:
            return i
    for i in range(len(ports)):
        if ports[i].port == gateway:
            return i
    return 0


@njit
def quickest(ports, time):
    """The position of the port with the least time."""
    best = 0
    for i in range(len(ports)):
        if time[ports[i].port] < time[ports[best].port]:
            best = i
    return best


@njit
def any_local(packet, ports, router):
    """The position of a random port to another router of the group."""
    local = 0
    for i in range(len(ports)):
        local += router.groups[ports[i].router] == router.groups[router.router]
    n = random(packet, 2, local)
    for i in range(len(ports)):
        if router.groups[ports[i].router] == router.groups[router.router]:
            if n == 0:
                return i
            n -= 1
    return 0


@routing(
    hops=5,
    state={"time": ("groups", "nodes", "ports"), "gateway": ("groups",)},
    parameters={
        "rate_down": 0.2,  # learning rate if a time gets shorter
        "rate_up": 0.04,  # learning rate if it gets longer
        "explore": 0.001,  # share of packets that take any port
        "threshold_source": 0.2,  # how much shorter a time must be at the source, as a share of the minimal path's
        "threshold_middle": 0.35,  # the same at the first router of another group
        "latency_local": 30_000,  # of links, for the first times
        "latency_global": 300_000,
    },
)
def q_adaptive(packet, ports, router):
    here, to = router.groups[router.router], router.groups[packet.destination]
    if packet.hop == 0:
        packet.memory = here * NODES + packet.came_from
    source, node = packet.memory // NODES, packet.memory % NODES
    minimal = port_to(ports, packet.destination, router.state.gateway[to])
    if here == to:
        return minimal
    time = router.state.time[to, node]
    best = quickest(ports, time)
    packet.answer = time[ports[best].port]
    if here == source:
        if packet.hop > 0:
            return minimal
        threshold = router.parameters.threshold_source
    else:
        if packet.hop > 1 or router.groups[ports[minimal].router] == to:
            return minimal
        best = any_local(packet, ports, router)
        threshold = router.parameters.threshold_middle
    shortest = time[ports[minimal].port]
    picked = best if (shortest - time[ports[best].port]) / shortest >= threshold else minimal
    if random(packet, 0, 1_000_000) < router.parameters.explore * 1_000_000:
        return random(packet, 1, len(ports))
    return picked


@q_adaptive.start
def start(ports, router):
    here = router.groups[router.router]
    for i in range(len(ports)):
        for to in range(len(router.state.gateway)):
            detour = 0 if router.groups[ports[i].router] == to else router.parameters.latency_local
            router.state.time[to, :, ports[i].port] = router.parameters.latency_global + detour
    for other in range(router.routers):
        to = router.groups[other]
        if to != here:
            for i in range(len(ports)):
                near = ports[i].router
                if near == other or (router.groups[near] == here and router.links[near, other] == 1):
                    router.state.gateway[to] = ports[i].port


@q_adaptive.learn
def learn(answer, router):
    to = router.groups[answer.destination]
    if router.groups[router.router] != to:
        time = router.state.time[to, answer.memory % NODES]
        change = answer.delay + answer.answer - time[answer.port]
        rate = router.parameters.rate_down if change < 0 else router.parameters.rate_up
        time[answer.port] += rate * change
