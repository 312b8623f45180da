"""The table of all policies: Odonata's own, the fixed layouts of papers, and those of other distributions."""

from collections.abc import Iterable, Iterator, Mapping

from odonata.errors import unknown
from odonata.placement import plugins
from odonata.placement.layouts import LAYOUTS
from odonata.placement.policies import intensity_contention, links, plain, salimibeni2022, slurm, zhang2018
from odonata.placement.policy import Policy


class Registry(Mapping[str, Policy]):
    """Policies by name: Odonata's own in the order given, then those of other distributions by name.

    A foreign policy is imported when it is looked up. One under a name of Odonata's own is listed as `NAME@foreign`.
    """

    def __init__(self, own: Iterable[Policy]) -> None:
        self._own = {policy.name: policy for policy in own}
        self._aliases = {alias.casefold(): policy.name for policy in self._own.values() for alias in policy.aliases}
        self._foreign: dict[str, Policy] = {}

    def __getitem__(self, name: str) -> Policy:
        if name in self._own:
            return self._own[name]
        if name not in self._foreign:
            plain = name.removesuffix(_SHADOWED)
            if plain != name and plain in self._own:
                self._foreign[name] = plugins.shadowed(plain, plugins.offered()[plain])
            else:
                self._foreign[name] = plugins.load(name, plugins.offered()[name])
        return self._foreign[name]

    def __iter__(self) -> Iterator[str]:
        yield from self._own
        yield from (name + _SHADOWED if name in self._own else name for name in plugins.offered())

    def __len__(self) -> int:
        return len(self._own) + len(plugins.offered())

    def find(self, name: str) -> Policy:
        """The policy of that name or alias, in upper or lower case. Raises InputError if there is none."""
        own = name if name in self._own else self._aliases.get(name.casefold())
        if own is not None:
            return self._own[own]
        if name not in self:
            raise unknown("placement policy", name, [*self, *self.aliases])
        return self[name]

    @property
    def aliases(self) -> list[str]:
        """The other names of policies, as the literature writes them."""
        return [alias for policy in self._own.values() for alias in policy.aliases]


_SHADOWED = "@foreign"


#: Policies in the order in which they are listed, the fixed layouts, and the policies of other distributions.
POLICIES = Registry(
    (
        plain.CONTIGUOUS,
        plain.RANDOM,
        plain.PER_LEAF,
        plain.EXPLICIT,
        zhang2018.LEVEL_SPREAD,
        zhang2018.SIMPLE,
        zhang2018.RANDOM_NODES,
        zhang2018.RANDOM_ROUTERS,
        zhang2018.RANDOM_GROUPS,
        zhang2018.ROUND_ROBIN_NODES,
        zhang2018.ROUND_ROBIN_ROUTERS,
        zhang2018.SLURM_ZHANG_TEXT,
        zhang2018.SLURM_ZHANG_SST,
        zhang2018.JOKANOVIC,
        slurm.SLURM_DRAGONFLY,
        slurm.SLURM_DRAGONFLY_LINEAR,
        slurm.SLURM_TREE,
        slurm.SLURM_TREE_LINEAR,
        salimibeni2022.SAME_GROUP,
        salimibeni2022.SAME_ISLAND,
        salimibeni2022.DIFFERENT_ISLANDS,
        intensity_contention.INTENSITY_AWARE,
        intensity_contention.CONTENTION_AWARE,
        links.NEAREST,
        links.LEAST_CUT,
        *(layout.policy() for layout in LAYOUTS.values()),
    )
)


def names() -> list[str]:
    """List the placement policies: Odonata's own, the fixed layouts of papers, and those of other distributions.

    Returns
    -------
    list of str
        Names for `place` of a job. Most need only a number of nodes; `explicit` and `per-leaf` need an
        option, and a layout is for one machine (`odonata show NAME`). As the values of an axis
        (`{"job.a.place": od.placements}`), those that cannot place the job are points of `Study.failed`.

    Examples
    --------
    >>> import odonata as od
    >>> od.placements()[:4]
    ['contiguous', 'random', 'per-leaf', 'explicit']
    """
    return list(POLICIES)
