"""Group shift: all messages of a group go to one other group, the usual worst case of a dragonfly."""

from fractions import Fraction
from typing import Any, Literal

from pydantic import Field

from odonata.document import Count
from odonata.errors import InputError
from odonata.scenario.apps.app import Ranks
from odonata.scenario.apps.patterns.pattern import LoadedPattern


class GroupShift(LoadedPattern):
    """At every interval each rank sends one message to a random rank of the group that is `shift` groups further.

    The groups are those of the job, in ascending cyclic order. All traffic of a group needs the few cables to one other
    group: the usual worst case of minimal routing. `worst-case` is the same pattern. Source: Kim 2008, section 4 (there
    with a shift of 1; also called ADV+i).
    """

    pattern: Literal["group-shift", "worst-case"]
    shift: Count = Field(1, description="number of groups to shift by, among the groups of the job")

    def core_name(self) -> str:
        """The same for both names."""
        return "group-shift"

    def leaving(self, ranks: Ranks) -> Fraction:  # noqa: ARG002
        """All messages leave their group."""
        return Fraction(1)

    def pattern_spec(self, ranks: Ranks) -> dict[str, Any]:
        """The shift; refuses one that leads back to the own group."""
        groups = len(ranks.by_group())
        if groups < 2:
            raise InputError(f"{self.pattern} needs ranks in at least two groups", path=("pattern",))
        if self.shift % groups == 0:
            raise InputError(
                f"a shift of {self.shift} leads from each of the job's {groups} groups to itself",
                hint=f"give a `shift` from 1 to {groups - 1}",
                path=("shift",),
            )
        return {"shift": self.shift}
