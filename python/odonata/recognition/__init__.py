"""The network of a real cluster: reads the files that administrators have as a machine, and writes a machine as such
files.

| file | what it does |
|---|---|
| `graph` | a fabric as switches, hosts and cables, from any file |
| `ibnetdiscover`, `graphml`, `cray` | formats that list every cable |
| `slurm`, `node_map` | formats that only say which nodes share a switch and a group |
| `remarks` | facts that a format cannot hold, in comments of files that Odonata wrote |
| `formats` | recognises the format of a file; the formats that can be written |
| `stated` | a machine with failures, in a file that Odonata wrote: comments and names give every place |
| `groups`, `plus`, `grid`, `tree`, `layout` | the kind of machine, its groups, and the number of each switch |
| `cabling` | the rule of the cables between groups, and missing cables |
| `any_graph` | a fabric of no known kind as a graph machine |
| `recognise` | combines these: the machine, what was recognised, and what was assumed |
"""

from odonata.recognition.formats import WRITTEN, Format, import_fabric
from odonata.recognition.recognise import Recognised

__all__ = ["WRITTEN", "Format", "Recognised", "import_fabric"]
