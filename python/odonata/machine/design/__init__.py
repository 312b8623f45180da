"""Machines of every kind for the same number of NICs, switches and taper, so that an architect compares equals.

`designs` searches each kind for the machine with the fewest switches whose links carry uniform random traffic of all
NICs on minimal paths (at a taper of 1:1; at 2:1, half of it). That is what makes them equal; their bisections differ
(a fat tree has all of it, a dragonfly and a HyperX one half), and what adversarial patterns and neighbours cost is
what a simulation shows. `wanted.py` says what is asked for, one file for each kind searches, `machine.py` makes system
files.

Sources: Kim 2008 (dragonfly), Shpiner 2017 (Dragonfly+), Ahn 2009 (HyperX), Öhring 1995 (fat tree).
"""

from odonata.machine.design.machine import Designed, designs
from odonata.machine.design.wanted import Design, Wanted

__all__ = ["Design", "Designed", "Wanted", "designs"]
