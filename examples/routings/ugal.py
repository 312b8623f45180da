"""UGAL on any graph (Singh 2005), as the built-in `ugal-hops`: one decision at the first router."""

from odonata.routing import least, others, routing


@routing(hops="2 * diameter")
def ugal(packet, ports, router):
    if packet.hop == 0:
        to = packet.destination
        minimal = least(packet, ports, router, to)
        through = others(packet, router, 24)
        if through < 0:
            return minimal
        other = least(packet, ports, router, through, 8)
        longer = router.links[through, router.router] + router.links[to, through]
        if ports[minimal].load * router.links[to, router.router] <= ports[other].load * longer:
            return minimal
        packet.memory = through
        return other
    if packet.memory == router.router:
        packet.memory = -1
    return least(packet, ports, router, packet.destination if packet.memory < 0 else packet.memory)
