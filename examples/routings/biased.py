"""At every router the least load times links to the destination, with a bias against ports that are not minimal."""

from odonata.routing import random, routing


@routing(hops="diameter + 2", parameters={"bias": 200_000})
def biased(packet, ports, router):
    best, weight, ties = 0, -1.0, 0
    for i in range(len(ports)):
        this = (ports[i].load + (1 - ports[i].minimal) * router.parameters.bias + 1.0) * (ports[i].links + 1)
        if weight < 0 or this < weight:
            best, weight, ties = i, this, 1
        elif this == weight:
            ties += 1
            if random(packet, ties, ties) == 0:
                best = i
    return best
