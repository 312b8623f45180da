"""The table of all policies."""

from odonata.placement.layouts import LAYOUTS
from odonata.placement.policies import (
    contention_aware,
    contiguous,
    different_islands,
    explicit,
    intensity_aware,
    jokanovic,
    level_spread,
    per_leaf,
    random,
    random_nodes,
    random_units,
    round_robin_nodes,
    round_robin_routers,
    same_group,
    same_island,
    simple,
    slurm_dragonfly,
    slurm_dragonfly_linear,
    slurm_tree,
    slurm_tree_linear,
    slurm_zhang,
)
from odonata.placement.registry import Registry

#: Policies in the order in which they are listed, the fixed layouts, and the policies of other distributions.
POLICIES = Registry(
    (
        contiguous.POLICY,
        random.POLICY,
        per_leaf.POLICY,
        explicit.POLICY,
        level_spread.POLICY,
        simple.POLICY,
        random_nodes.POLICY,
        random_units.ROUTERS,
        random_units.WHOLE_GROUPS,
        round_robin_nodes.POLICY,
        round_robin_routers.POLICY,
        slurm_zhang.TEXT,
        slurm_zhang.SST,
        jokanovic.POLICY,
        slurm_dragonfly.POLICY,
        slurm_dragonfly_linear.POLICY,
        slurm_tree.POLICY,
        slurm_tree_linear.POLICY,
        same_group.POLICY,
        same_island.POLICY,
        different_islands.POLICY,
        intensity_aware.POLICY,
        contention_aware.POLICY,
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
