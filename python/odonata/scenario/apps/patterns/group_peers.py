"""Group peers: the background of Kang 2019, and the message size that gives a wanted load (K10 to K13)."""

from fractions import Fraction
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from odonata.document import Bandwidth, input_error_as_problem
from odonata.errors import InputError
from odonata.placement import format_ids
from odonata.placement.policy import read_groups
from odonata.scenario.apps.app import Ranks
from odonata.scenario.apps.patterns.pattern import Load, Pattern
from odonata.scenario.apps.values import MAX_MESSAGE_BYTES, MessageSize

_Groups = Annotated[list[int], BeforeValidator(input_error_as_problem(read_groups))]


class GroupPeers(Pattern):
    """At every interval each rank sends one message to the rank of the same number in each other group.

    Source: Kang 2019, section 3.3 (K11). The size of the messages is given, or solved from the theoretical
    global link load (equation 4, K10): with n ranks per group, each sending one message per interval to each
    other group, a group pair's links carry n x message / interval in each direction, so

        message = tgll x bandwidth of a global link x interval x links per pair / n

    rounded to a whole byte. On `kang2019` this gives the sizes of table 1 (K12): 2,340, 4,212 and 6,084 B for
    50, 90 and 130 % at 1 us.
    """

    pattern: Literal["group-peers"]
    message: MessageSize | None = Field(None, description="size of each message (or give `tgll`)")
    tgll: Load | None = Field(None, description="load of the links between two groups, from which the size follows")
    tgll_bandwidth: Bandwidth | None = Field(
        None, description="bandwidth of a global link in TGLL (default: the system's)"
    )
    groups: _Groups | None = Field(None, description="groups in which the ranks must be (default: not checked)")

    def pattern_spec(self, ranks: Ranks) -> dict[str, Any]:
        """Nothing beyond the name; checks that every group has as many ranks as the others."""
        counts = ranks.by_group()
        if self.groups is not None and self.groups != list(counts):
            raise InputError(
                f"the ranks are in groups {format_ids(counts)}, not in {format_ids(self.groups)}",
                path=("groups",),
            )
        if len(counts) < 2:
            raise InputError("group-peers needs ranks in at least two groups", path=("pattern",))
        (first, n), *others = counts.items()
        for group, other in others:
            if other != n:
                raise InputError(
                    "group-peers needs equally many ranks in each group, but group "
                    f"{first} has {n} and group {group} has {other}",
                    path=("pattern",),
                )
        return {}

    def message_bytes(self, ranks: Ranks) -> int:
        """The given size, or the one for the wanted load."""
        if self.message is not None:
            if self.tgll is not None:
                raise InputError("`message` and `tgll` exclude each other", path=("tgll",))
            return self.message
        if self.tgll is None:
            raise InputError("the size of the messages is missing: give `message` or `tgll`")
        size = self._solve(self.tgll, ranks)
        if not 1 <= size <= MAX_MESSAGE_BYTES:
            message = f"a load of {float(self.tgll):g} needs messages of {size} B, not between 1 B and 2^40 B"
            raise InputError(message, path=("tgll",))
        return size

    def _solve(self, tgll: Fraction, ranks: Ranks) -> int:
        if not ranks.system.links_per_pair:
            kind = ranks.system.table.kind
            raise InputError(f"`tgll` is about cables between two groups, which a {kind} has not", path=("tgll",))
        bandwidth = Fraction(self.tgll_bandwidth or ranks.system.tgll_bandwidth, 10**6)
        interval = Fraction(self.interval_ps(ranks), 10**12)
        per_group = next(iter(ranks.by_group().values()))
        return round(tgll * bandwidth * interval * ranks.system.links_per_pair / per_group)
