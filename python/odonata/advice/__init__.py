"""Which change of a scenario makes a job faster: remedies, their search, and what they do to every job.

| file | what |
|---|---|
| `remedy.py` | a remedy: keys of the scenario and their new values |
| `kinds/` | the remedies of each kind: placement, routing, mapping, start |
| `space.py` | the scenario as it is: which jobs there are, and what may be changed |
| `search.py` | successive halving over seeds, on studies |
| `effects.py` | the effect of a remedy on every job, with intervals; what it costs |
| `alternatives.py` | other assumptions under which remedies are judged |
| `advising.py`, `advice.py`, `sentences.py` | the whole, its result, and its text |
"""

from odonata.advice.advice import Advice, Finding, Under
from odonata.advice.advising import advise
from odonata.advice.effects import Cost, Effect
from odonata.advice.remedy import Remedy

__all__ = ["Advice", "Cost", "Effect", "Finding", "Remedy", "Under", "advise"]
