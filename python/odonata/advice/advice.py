"""The result of a search for remedies."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from odonata.advice.search import score

if TYPE_CHECKING:
    from collections.abc import Mapping

    from odonata.advice.effects import Cost, Effect
    from odonata.advice.remedy import Remedy
    from odonata.advice.search import Standing
    from odonata.scenario import Scenario


@dataclass(frozen=True, slots=True)
class Finding:
    """A remedy of the final comparison."""

    remedy: Remedy
    """The change of the scenario."""
    effects: tuple[Effect, ...]
    """What becomes of every job, the victim first."""
    cost: Cost
    """What it changes."""
    helps: bool
    """Whether the victim is faster beyond its interval."""
    slows: tuple[str, ...]
    """Other jobs that are slower beyond their intervals."""
    unknown: tuple[str, ...]
    """Other jobs that cannot be compared, because their runs are not complete."""

    @property
    def score(self) -> float:
        """By what findings are ranked: the victim's ratio times the largest one of any job that it slows down."""
        mine, *others = self.effects
        lost = [other.ratio for other in others if other.ratio is not None and other.job in self.slows]
        return float("inf") if mine.ratio is None else score(mine.ratio, max(lost, default=1.0))


@dataclass(frozen=True, slots=True)
class Under:
    """The final comparison under another assumption."""

    name: str
    """What the assumption is called."""
    findings: tuple[Finding, ...]
    """The remedies of the final comparison, in the same order."""


@dataclass(frozen=True, slots=True)
class Advice:
    """Which changes of a scenario make a job faster."""

    scenario: Scenario
    """The scenario as it is."""
    victim: str
    """The job that is to become faster."""
    slowdown: float | None
    """How much longer it takes than alone, with the scenario's own seed; None if that is not known."""
    findings: tuple[Finding, ...]
    """The final comparison: remedies that help, best first, then the others."""
    tried: int
    """Remedies that were simulated."""
    impossible: Mapping[str, str]
    """Remedies that cannot be simulated, with the reason."""
    fixed: tuple[str, ...]
    """Jobs whose nodes stay because a list or their pattern fixes them."""
    runs: int
    """Points of the study: a remedy and a seed."""
    seeds: int
    """Seeds of the final comparison."""
    under: tuple[Under, ...] = ()
    """The final comparison under other assumptions, if there are any."""
    complete: bool = True
    """Whether the search came to its end; otherwise its time was used up, and there is no final comparison."""
    so_far: tuple[Standing, ...] = ()
    """Of a search that did not come to its end: the remedies that are still in the race, best first."""
    untried: int = 0
    """Remedies without a run, because the time was used up."""

    def everywhere(self, number: int) -> tuple[Finding, ...]:
        """A finding by its number: as the scenario is, and under each other assumption."""
        return (self.findings[number], *(under.findings[number] for under in self.under))

    def holds(self, number: int) -> bool:
        """Whether a remedy helps as the scenario is and under all other assumptions."""
        return all(finding.helps for finding in self.everywhere(number))

    @property
    def best(self) -> Finding | None:
        """The remedy to take; None if none helps (under all assumptions)."""
        return next((finding for n, finding in enumerate(self.findings) if self.holds(n)), None)

    @property
    def harmless(self) -> Finding | None:
        """The best remedy that slows down no other job (under any assumption); None if there is none."""
        numbers = range(len(self.findings))
        harmless = (n for n in numbers if self.holds(n) and not any(finding.slows for finding in self.everywhere(n)))
        return next((self.findings[n] for n in harmless), None)

    @property
    def changed(self) -> Scenario | None:
        """The scenario with the remedy to take; None if none helps."""
        return None if self.best is None else self.best.remedy.applied(self.scenario)

    def as_dict(self) -> dict[str, Any]:
        """The object that `odonata advise --json` prints."""
        from odonata.advice.sentences import sentences

        findings = [
            {
                "remedy": finding.remedy.name,
                "kinds": list(finding.remedy.kinds),
                "changes": [{"key": key, "value": value} for key, value in finding.remedy.changes],
                "toml": finding.remedy.toml,
                "helps": finding.helps,
                "slows": list(finding.slows),
                "not_compared": list(finding.unknown),
                "effects": [asdict(effect) for effect in finding.effects],
                "cost": asdict(finding.cost),
                "under": [
                    {
                        "assumption": under.name,
                        "helps": under.findings[number].helps,
                        "slows": list(under.findings[number].slows),
                        "effects": [asdict(effect) for effect in under.findings[number].effects],
                    }
                    for under in self.under
                ],
                "holds": self.holds(number),
            }
            for number, finding in enumerate(self.findings)
        ]
        return {
            "scenario": str(self.scenario.path),
            "victim": self.victim,
            "slowdown": self.slowdown,
            "helps": self.best is not None,
            "findings": findings,
            "complete": self.complete,
            "so_far": [asdict(standing) for standing in self.so_far],
            "untried": self.untried,
            "tried": self.tried,
            "impossible": [{"remedy": name, "why": why} for name, why in self.impossible.items()],
            "fixed": list(self.fixed),
            "runs": self.runs,
            "seeds": self.seeds,
            "confidence": 0.95,
            "sentences": [line for line in sentences(self) if line],
        }

    def __str__(self) -> str:
        from odonata.advice.sentences import as_text

        return as_text(self)

    def _repr_html_(self) -> str:
        from odonata.advice.sentences import as_html

        return as_html(self)
