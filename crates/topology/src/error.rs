//! What can be wrong with the description of a machine.

use thiserror::Error;

/// The words of a kind of machine for its routers with global ports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GlobalNames {
    /// The routers, in the plural.
    pub routers: &'static str,
    /// The parameter that says how many global ports each has.
    pub parameter: &'static str,
}

/// A machine that cannot be built. Every variant names the parameter to change.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum TopologyError {
    /// A count that must be at least one is zero.
    #[error("`{what}` is 0, but a machine needs at least 1")]
    Zero {
        /// Name of the parameter.
        what: &'static str,
    },
    /// The groups need more global links than their routers have ports.
    #[error(
        "{links_per_pair} links to each of {peers} other groups need {need} global ports per group, but \
         {routers} {} with {per_router} global links each have only {have}; lower `groups` or \
         `links_per_pair`, or raise `{}`", .names.routers, .names.parameter
    )]
    GlobalPorts {
        /// Links per pair of groups.
        links_per_pair: u64,
        /// Number of other groups.
        peers: u64,
        /// Global ports needed per group.
        need: u64,
        /// Routers with global ports per group.
        routers: u64,
        /// Global links of each of these.
        per_router: u64,
        /// Global ports available per group.
        have: u64,
        /// What they are called.
        names: GlobalNames,
    },
    /// Not even one link per pair of groups.
    #[error(
        "{groups} groups need at least {need} global ports per group, one per other group, but {routers} {} \
         with {per_router} global links each have only {have}; at most {max} groups can be connected", .names.routers
    )]
    TooManyGroups {
        /// Groups asked for.
        groups: u64,
        /// Ports needed per group.
        need: u64,
        /// Routers with global ports per group.
        routers: u64,
        /// Global links of each of these.
        per_router: u64,
        /// Ports available per group.
        have: u64,
        /// Largest number of groups that fits.
        max: u64,
        /// What the routers are called.
        names: GlobalNames,
    },
    /// One group needs more global ports than it has: by exceptions in `pair_links`.
    #[error(
        "group {group} needs {need} global ports for its links to other groups, but its {routers} {} with \
         {per_router} global links each have only {have}; lower `pair_links` or `links_per_pair`, or raise `{}`",
        .names.routers, .names.parameter
    )]
    GroupPorts {
        /// The group.
        group: u32,
        /// Global ports needed.
        need: u64,
        /// Routers with global ports in this group.
        routers: u64,
        /// Global links of each of these.
        per_router: u64,
        /// Global ports it has.
        have: u64,
        /// What the routers are called.
        names: GlobalNames,
    },
    /// The parallel arrangement wires equal spines, so it needs whole rounds of them.
    #[error(
        "the parallel arrangement gives every spine the same number of links to a group: `links_per_pair` = \
         {links_per_pair} is not a multiple of {spines} spines; use `linear`"
    )]
    ParallelNeedsWholeRounds {
        /// Links per pair of groups.
        links_per_pair: u64,
        /// Spines per group.
        spines: u64,
    },
    /// A value that does not fit the others.
    #[error("`{what}` {problem}")]
    Invalid {
        /// Name of the parameter; of an element of a list: `list[index]`.
        what: String,
        /// What is wrong, and what would fit.
        problem: String,
    },
    /// Failures have cut a group in two: local traffic cannot leave its group.
    #[error(
        "the failures leave no way from router {from} to router {to} inside group {group}; let more of the group's \
         local links work, or take one of the two routers out as well (`failures.routers`)"
    )]
    Partitioned {
        /// The group.
        group: u32,
        /// A router of it.
        from: u32,
        /// Another one, which it cannot reach.
        to: u32,
    },
    /// Two leaves of a Dragonfly+ that no shortest way joins.
    #[error(
        "leaf {from} (router) cannot reach leaf {to} by a shortest way; give their groups a link between spines that \
         both leaves are linked to, or take one of the two leaves out as well (`failures.routers`)"
    )]
    Unreachable {
        /// The leaf that sends, as a router number.
        from: u32,
        /// The leaf that it cannot reach.
        to: u32,
    },
    /// Ids are 32 bits and ports are 16 bits.
    #[error("the machine has {what} = {found}, but at most {max} are possible")]
    TooLarge {
        /// What there is too much of.
        what: &'static str,
        /// How many were asked for.
        found: u64,
        /// How many are possible.
        max: u64,
    },
}

impl TopologyError {
    /// A value that does not fit the others.
    pub(crate) fn invalid(what: impl Into<String>, problem: impl Into<String>) -> Self {
        Self::Invalid { what: what.into(), problem: problem.into() }
    }

    /// Refuses what is larger than can be numbered or held; the counts are products that may exceed 64 bits.
    pub(crate) fn bounded(sizes: &[(&'static str, u128, u64)]) -> Result<(), Self> {
        for &(what, found, max) in sizes {
            let found = u64::try_from(found).unwrap_or(u64::MAX);
            if found > max {
                return Err(Self::TooLarge { what, found, max });
            }
        }
        Ok(())
    }
}
