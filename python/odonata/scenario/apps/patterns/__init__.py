"""Traffic patterns as a scenario names them: one file each, listed in `PATTERNS`.

What a pattern sends is in `docs/model.md`, section 7.
"""

from odonata.scenario.apps.patterns.broadcast import Broadcast
from odonata.scenario.apps.patterns.group_peers import GroupPeers
from odonata.scenario.apps.patterns.group_shift import GroupShift
from odonata.scenario.apps.patterns.pattern import Pattern
from odonata.scenario.apps.patterns.stencil_3d import Stencil3d
from odonata.scenario.apps.patterns.tornado import Tornado
from odonata.scenario.apps.patterns.uniform_random import UniformRandom

#: All traffic patterns by name.
PATTERNS: dict[str, type[Pattern]] = {
    "uniform-random": UniformRandom,
    "stencil-3d": Stencil3d,
    "tornado": Tornado,
    "broadcast": Broadcast,
    "group-peers": GroupPeers,
    "group-shift": GroupShift,
    "worst-case": GroupShift,
}

__all__ = ["PATTERNS", "Pattern"]
