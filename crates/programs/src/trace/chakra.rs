//! Chakra execution traces (MLCommons Chakra; Sridharan et al. 2023): one file for each rank, or one for all.
//!
//! | file | what it holds |
//! |---|---|
//! | `schema.rs`, `value.rs` | the messages of the schema, present and old, and values of attributes |
//! | `file.rs`, `node.rs` | a file as nodes, and what a node does |
//! | `groups.rs` | process groups |
//! | `calls.rs` | the collectives of all ranks: which belong together, and their operations |
//! | `order.rs` | an order in which no node comes before those that it waits for |
//! | `build.rs` | the nodes of a rank as operations |
//! | `write.rs` | a trace as files |

mod build;
mod calls;
mod file;
mod groups;
mod node;
mod order;
mod schema;
mod value;
mod write;

use std::collections::BTreeMap;
use std::num::NonZeroU64;

use odonata_error::{Error, ErrorKind, path};
use serde::Deserialize;

use super::MOST_OPERATIONS;
use super::draft;
use super::graph::Trace;
use super::problem::Source;
use crate::Phase;

use build::Builder;
use calls::Calls;
use file::ChakraFile;
use order::order;

/// What the application adds to the files.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChakraOptions {
    /// Floating-point operations of a GPU, per second.
    #[serde(default)]
    pub peak: Option<NonZeroU64>,
    /// Bandwidth of the memory of a GPU, in millionths of a byte per second.
    #[serde(default)]
    pub memory: Option<NonZeroU64>,
    /// The ranks of process groups, by name; none for all ranks. They come before those that the files describe.
    #[serde(default)]
    pub groups: BTreeMap<String, Vec<u32>>,
    /// Extents of the dimensions that `involved_dim` speaks of, the fastest first; their product is the number of ranks.
    #[serde(default)]
    pub dimensions: Vec<u32>,
}

/// A collective whose algorithm is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CollectiveCall {
    /// Its name in a specification.
    pub name: &'static str,
    /// Ranks of its group.
    pub ranks: u32,
    /// Its size, as a specification counts it.
    pub bytes: u64,
    /// The root in the group; 0 for collectives without one.
    pub root: u32,
}

/// Says how collectives are done.
pub struct Collectives<'a> {
    /// The phases of a collective, each by all of its ranks.
    pub choose: &'a dyn Fn(CollectiveCall) -> Result<Vec<Phase>, Error>,
    /// The time in picoseconds to combine so many bytes of a vector of so many.
    pub combining: &'a dyn Fn(u64, u64) -> u64,
}

impl Trace {
    /// Reads a Chakra trace of `ranks` ranks: one file for each rank, or one that all ranks follow.
    ///
    /// # Errors
    /// With the number of the file, and the byte or the node: a file that cannot be read, nodes that a trace cannot
    /// express, messages and collectives that do not match.
    ///
    /// # Panics
    /// If there are other numbers of files.
    pub fn parse_chakra(
        files: &[&[u8]],
        ranks: u32,
        options: &ChakraOptions,
        collectives: &Collectives<'_>,
    ) -> Result<Self, Error> {
        assert!(files.len() == 1 || files.len() == ranks as usize, "one file for each rank, or one for all");
        let points = options.dimensions.iter().fold(1_u128, |points, &extent| points.saturating_mul(extent.into()));
        if !options.dimensions.is_empty() && points != u128::from(ranks) {
            let kind = ErrorKind::GridOfOtherSize { grid: options.dimensions.clone(), points, ranks: ranks.into() };
            return Err(kind.at(path!["dimensions"]));
        }
        let number = |rank: u32| (rank as usize).min(files.len() - 1);
        let within = |file: usize| move |e: Error| e.under(path!["files", file]);
        let mut read = Vec::with_capacity(files.len());
        for (index, bytes) in files.iter().enumerate() {
            let mut file = ChakraFile::read(bytes, options).map_err(within(index))?;
            let order = order(&file).map_err(within(index))?;
            file.chain_streams(order.as_deref());
            read.push((file, order));
        }
        let file = |rank: u32| &read[number(rank)].0;
        let calls = Calls::new(&file, ranks, options, collectives)
            .map_err(|(rank, e)| e.under(path!["files", number(rank)]))?;
        let nodes: u64 = (0..ranks).map(|rank| file(rank).nodes.len() as u64).sum();
        let operations = nodes.saturating_add(calls.operations);
        if operations > MOST_OPERATIONS {
            return Err(ErrorKind::ChakraTooLong { found: operations, most: MOST_OPERATIONS }.into());
        }
        let mut first_place = 0_u32;
        let mut drafts = Vec::with_capacity(ranks as usize);
        for rank in 0..ranks {
            let (file, order) = &read[number(rank)];
            let builder = Builder::new(file, rank, ranks, first_place, &calls);
            drafts.push(builder.build(order.as_deref()).map_err(within(number(rank)))?);
            first_place += file.nodes.len() as u32;
        }
        // A position is the number of a node in its file, behind those of the ranks before.
        let node = |rank: u32, index: u32| {
            let node = &file(rank).nodes[index as usize];
            (number(rank), node.id, &*node.name)
        };
        draft::finish(Source::Chakra(&node), drafts)
    }
}
