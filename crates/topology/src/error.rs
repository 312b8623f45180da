//! What can be wrong with the description of a machine.

use thiserror::Error;

/// A machine that cannot be built. Every variant names the parameter to change.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum TopologyError {
    /// A count that must be at least one is zero.
    #[error("`{what}` is 0, but a machine needs at least 1")]
    Zero {
        /// Name of the parameter.
        what: &'static str,
    },
    /// The groups need more global links than the spines have ports.
    #[error(
        "{links_per_pair} links to each of {peers} other groups need {need} global ports per group, but \
         {spines} spines with {per_spine} global links each have only {have}; lower `groups` or \
         `links_per_pair`, or raise `global_links_per_spine`"
    )]
    GlobalPorts {
        /// Links per pair of groups.
        links_per_pair: u64,
        /// Number of other groups.
        peers: u64,
        /// Global ports needed per group.
        need: u64,
        /// Spines per group.
        spines: u64,
        /// Global links per spine.
        per_spine: u64,
        /// Global ports available per group.
        have: u64,
    },
    /// Not even one link per pair of groups.
    #[error(
        "{groups} groups need at least {need} global ports per group, one per other group, but {spines} spines \
         with {per_spine} global links each have only {have}; at most {max} groups can be connected"
    )]
    TooManyGroups {
        /// Groups asked for.
        groups: u64,
        /// Ports needed per group.
        need: u64,
        /// Spines per group.
        spines: u64,
        /// Global links per spine.
        per_spine: u64,
        /// Ports available per group.
        have: u64,
        /// Largest number of groups that fits.
        max: u64,
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
    /// Something that this kind of machine cannot do.
    #[error("a machine of this kind cannot be built with `{what}`")]
    NotSupported {
        /// Name of the parameter.
        what: &'static str,
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
