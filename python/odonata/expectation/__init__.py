"""What a run will have to simulate: messages, packets and packet-hops, counted before it or in its first seconds.

Packets go minimal paths here, so a routing with detours simulates more packet-hops. Nothing is counted of a program
without end and of one with very many ranks, unless it is a collective of pairs.

- `counts.py`: what each job sends
- `distances.py`: how far its packets go
- `expected.py`: the whole run, the share that is done, and what makes it shorter
"""

from odonata.expectation.counts import JobCount
from odonata.expectation.expected import Expectation, expectation

__all__ = ["Expectation", "JobCount", "expectation"]
