"""Functions that a routing may call. They draw the random numbers that the built-in routings draw."""

from numba import int64, njit, uint32, uint64

MOST = 2**63 - 1
"""The greatest load."""


@njit
def _mix(x):  # type: ignore[no-untyped-def]
    x = (x ^ (x >> uint64(30))) * uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> uint64(27))) * uint64(0x94D049BB133111EB)
    return x ^ (x >> uint64(31))


@njit
def random(packet, k, n):  # type: ignore[no-untyped-def]
    """Draw number `k` of a packet at this router: a whole number from 0 to n - 1, uniformly.

    The same k gives the same number. It depends on the packet and on its hop, and on nothing else. k is from 0 to 255.
    """
    word = (uint64(packet.key) << uint64(32)) | (uint64(packet.hop) << uint64(8)) | uint64(k)
    return int64((uint64(uint32(_mix(word) >> uint64(32))) * uint64(n)) >> uint64(32))


@njit
def _nth(ports, row, here, most, n):  # type: ignore[no-untyped-def]
    """The position of the n-th port that leads nearer and has at most this load."""
    for i in range(len(ports)):
        if row[ports[i].router] < here and ports[i].load <= most:
            if n == 0:
                return i
            n -= 1
    return -1


@njit
def least(packet, ports, router, to, base=0):  # type: ignore[no-untyped-def]
    """The position of the port with the least load of those that lead nearer to a router, ties at random.

    It uses the draws from `base` to `base` + 4. -1 if no port leads nearer. As `least` of docs/model.md, section 6.
    """
    row = router.links[to]
    here = row[router.router]
    count, lowest, ties, load = 0, -1, 0, 0
    for i in range(len(ports)):
        if row[ports[i].router] < here:
            count += 1
            if lowest < 0 or ports[i].load < load:
                lowest, ties, load = i, 1, ports[i].load
            elif ports[i].load == load:
                ties += 1
    if ties <= 1:
        return lowest
    if load == 0:
        for k in range(4):
            i = _nth(ports, row, here, MOST, random(packet, base + k, count))
            if ports[i].load == 0:
                return i
    return _nth(ports, row, here, load, random(packet, base + 4, ties))


@njit
def _place(ends, router):  # type: ignore[no-untyped-def]
    """How many of the routers with nodes come before a router."""
    low, high = 0, len(ends)
    while low < high:
        middle = (low + high) // 2
        if ends[middle] < router:
            low = middle + 1
        else:
            high = middle
    return low


@njit
def others(packet, router, k):  # type: ignore[no-untyped-def]
    """A router with nodes other than this one and the destination's, by draw number k; -1 if there is none.

    It is -1 too if no path leads there.
    """
    ends = router.ends
    here, there = _place(ends, router.router), _place(ends, packet.destination)
    has_nodes = here < len(ends) and ends[here] == router.router
    n = len(ends) - (2 if has_nodes and here != there else 1)
    if n < 1:
        return -1
    index = random(packet, k, n)
    first, last = min(here, there), max(here, there)
    if not has_nodes:
        first = last = there
    if index >= first:
        index += 1
    if first != last and index >= last:
        index += 1
    drawn = ends[index]
    return -1 if router.links[drawn, router.router] == 255 else drawn
