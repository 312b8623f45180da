//! The collectives of all ranks: which belong together, and how they are done.

use std::collections::BTreeMap;

use odonata_error::{Error, ErrorKind};

use super::file::ChakraFile;
use super::groups::{Group, Members};
use super::node::{Call, ChakraNode, Work};
use super::schema::COLLECTIVES;
use super::{ChakraOptions, CollectiveCall, Collectives};
use crate::Op;
use crate::trace::ANY_TAG;
use crate::trace::shape::Shape;

/// An error of a rank.
type Result<T> = std::result::Result<T, (u32, Error)>;

/// The collectives of a trace.
pub struct Calls<'a> {
    groups: Vec<GroupCalls>,
    shapes: Vec<Shape>,
    pub combining: &'a dyn Fn(u64, u64) -> u64,
    /// The group of each collective of a rank, in the order of its file.
    of_rank: Vec<Vec<u32>>,
    /// The first tag of collectives, above those of the files.
    first_tag: u64,
    /// Operations of all collectives together.
    pub operations: u64,
}

/// The collectives of a process group, in the order of the files.
struct GroupCalls {
    members: Vec<u32>,
    /// The index of the shape, and the tag of the first label.
    calls: Vec<(u32, u64)>,
}

/// The collective of a node.
pub struct Member<'a> {
    shape: &'a Shape,
    members: &'a [u32],
    /// The rank in the group.
    pub rank: u32,
    tag: u64,
}

impl<'a> Calls<'a> {
    /// Finds all collectives, and checks that the ranks of each group run the same.
    ///
    /// # Errors
    /// With the rank.
    pub fn new<'f>(
        file: &dyn Fn(u32) -> &'f ChakraFile,
        ranks: u32,
        options: &ChakraOptions,
        collectives: &Collectives<'a>,
    ) -> Result<Self> {
        let mut nodes: BTreeMap<Members, Vec<(u32, Vec<u32>)>> = BTreeMap::new();
        let mut of_rank: Vec<Vec<Members>> = Vec::with_capacity(ranks as usize);
        let mut which_of_rank = Vec::with_capacity(ranks as usize);
        for rank in 0..ranks {
            let (groups, which, indices) = groups_of(file(rank), rank, ranks, options).map_err(|e| (rank, e))?;
            for (members, indices) in groups.iter().zip(indices) {
                nodes.entry(members.clone()).or_default().push((rank, indices));
            }
            of_rank.push(groups);
            which_of_rank.push(which);
        }
        let numbers: BTreeMap<&Members, u32> = nodes.keys().zip(0..).collect();
        let mut calls = Self {
            groups: Vec::with_capacity(nodes.len()),
            shapes: Vec::new(),
            combining: collectives.combining,
            of_rank: Vec::with_capacity(ranks as usize),
            first_tag: 0,
            operations: 0,
        };
        for (groups, which) in of_rank.iter().zip(which_of_rank) {
            calls.of_rank.push(which.into_iter().map(|group: u32| numbers[&groups[group as usize]]).collect());
        }
        let mut shapes: BTreeMap<(usize, usize, u64, u32), u32> = BTreeMap::new();
        let mut label = 0;
        for ((name, members), of_members) in &nodes {
            check(name, members, of_members, file)?;
            let mut group = GroupCalls { members: members.clone(), calls: Vec::new() };
            let (rank, first) = &of_members[0];
            for &index in first {
                let node = &file(*rank).nodes[index as usize];
                let call = call(node);
                let root = root(call, members, node).map_err(|e| (*rank, e))?;
                let key = (call.kind, members.len(), call.bytes, root);
                let shape = match shapes.get(&key) {
                    Some(&shape) => shape,
                    None => {
                        let shape = shape(call, members.len() as u32, root, collectives);
                        calls.shapes.push(shape.map_err(|e| (*rank, Error { place: e.place.or(at(node)), ..e }))?);
                        let number = calls.shapes.len() as u32 - 1;
                        shapes.insert(key, number);
                        number
                    }
                };
                group.calls.push((shape, label));
                label += calls.shapes[shape as usize].labels.len() as u64;
                calls.operations += calls.shapes[shape as usize].operations;
            }
            calls.groups.push(group);
        }
        calls.first_tag = first_tag(file, ranks, label);
        Ok(calls)
    }

    /// Collective `number` of a rank, in the order of its file; `seen` counts those of each group before.
    pub fn member(&self, rank: u32, number: usize, seen: &mut BTreeMap<u32, usize>) -> Member<'_> {
        let group = self.of_rank[rank as usize][number];
        let seen = seen.entry(group).or_default();
        let GroupCalls { members, calls } = &self.groups[group as usize];
        let (shape, label) = calls[*seen];
        *seen += 1;
        let place = members.iter().position(|&member| member == rank).expect("a member of its own group");
        Member { shape: &self.shapes[shape as usize], members, rank: place as u32, tag: self.first_tag + label }
    }
}

impl Member<'_> {
    /// The operations of the rank, with ranks of the job as peers and tags as labels.
    pub fn ops(&self) -> impl Iterator<Item = Op> {
        let peer = |peer: u32| self.members[peer as usize];
        let tag = |label: u64| self.tag + self.shape.tag(label);
        self.shape.phases.ops(self.rank).map(move |op| match op {
            Op::Send { to, label, bytes, blocking } => Op::Send { to: peer(to), label: tag(label), bytes, blocking },
            Op::Receive { from, label, bytes, blocking } => {
                Op::Receive { from: peer(from), label: tag(label), bytes, blocking }
            }
            other => other,
        })
    }
}

/// Collectives of the same kind, size, number of ranks and root.
fn shape(call: &Call, ranks: u32, root: u32, collectives: &Collectives<'_>) -> std::result::Result<Shape, Error> {
    let (_, name) = COLLECTIVES[call.kind];
    let name = name.expect("a reader refuses collectives without a name");
    // An all-to-all states the data of a rank for all ranks, a specification that for each of them.
    let bytes = if name == "alltoall" { call.bytes.div_ceil(ranks.into()) } else { call.bytes };
    Shape::new((collectives.choose)(CollectiveCall { name, ranks, bytes, root })?, ranks)
}

fn call(node: &ChakraNode) -> &Call {
    let Work::Collective(call) = &node.work else { unreachable!("only collectives are listed") };
    call
}

fn at(node: &ChakraNode) -> Option<odonata_error::TracePlace> {
    Some(odonata_error::TracePlace::Node { node: node.id, name: node.name.to_string() })
}

/// The root in the group.
fn root(call: &Call, members: &[u32], node: &ChakraNode) -> std::result::Result<u32, Error> {
    let Some(root) = call.root else { return Ok(0) };
    let place = members.iter().position(|&member| member == root);
    place.map(|place| place as u32).ok_or_else(|| {
        let expected = "a rank of the process group";
        let kind = ErrorKind::ChakraBadValue { attribute: "root", found: root.to_string(), expected };
        kind.of_node(node.id, &node.name)
    })
}

/// The groups of a rank, the group of each of its collectives, and the nodes of each group.
type GroupsOfRank = (Vec<Members>, Vec<u32>, Vec<Vec<u32>>);

fn groups_of(
    file: &ChakraFile,
    rank: u32,
    ranks: u32,
    options: &ChakraOptions,
) -> std::result::Result<GroupsOfRank, Error> {
    let mut known: Vec<(&Group, u32)> = Vec::new();
    let (mut groups, mut which, mut indices): GroupsOfRank = Default::default();
    for (index, node) in (0..).zip(&file.nodes) {
        let Work::Collective(call) = &node.work else { continue };
        let group = match known.iter().find(|(group, _)| *group == &call.group) {
            Some(&(_, group)) => group,
            None => {
                let members = call.group.members(rank, ranks, file, node, options)?;
                // Two names of a file may mean the same ranks, as `involved_dim` of all dimensions and none does.
                let number = groups.iter().position(|other| *other == members).unwrap_or(groups.len());
                if number == groups.len() {
                    groups.push(members);
                    indices.push(Vec::new());
                }
                known.push((&call.group, number as u32));
                number as u32
            }
        };
        which.push(group);
        indices[group as usize].push(index);
    }
    Ok((groups, which, indices))
}

/// Refuses a group whose ranks do not run the same collectives.
fn check<'f>(
    name: &str,
    members: &[u32],
    of_members: &[(u32, Vec<u32>)],
    file: &dyn Fn(u32) -> &'f ChakraFile,
) -> Result<()> {
    let (other_rank, others) = &of_members[0];
    let node = |rank: u32, index: u32| &file(rank).nodes[index as usize];
    for (rank, indices) in &of_members[1..] {
        for (number, (&index, &other)) in indices.iter().zip(others).enumerate() {
            let (here, there) = (node(*rank, index), node(*other_rank, other));
            let (a, b) = (call(here), call(there));
            if (a.kind, a.bytes, a.root) != (b.kind, b.bytes, b.root) {
                let kind = ErrorKind::ChakraCollectivesDiffer {
                    group: name.into(),
                    number: number + 1,
                    found: shown(a),
                    found_bytes: a.bytes,
                    other_rank: *other_rank,
                    other_node: there.id,
                    other: shown(b),
                    other_bytes: b.bytes,
                };
                return Err((*rank, kind.of_node(here.id, &here.name)));
            }
        }
    }
    let count = |rank: u32| {
        of_members.iter().find(|(member, _)| *member == rank).map_or(&[][..], |(_, indices)| indices.as_slice())
    };
    let most = of_members.iter().max_by_key(|(rank, indices)| (indices.len(), std::cmp::Reverse(*rank)));
    let Some((rank, indices)) = most else { return Ok(()) };
    if let Some(&fewer) = members.iter().find(|&&member| count(member).len() < indices.len()) {
        let other_found = count(fewer).len();
        let here = node(*rank, indices[other_found]);
        let kind = ErrorKind::ChakraCollectiveMissing {
            group: name.into(),
            found: indices.len(),
            other_rank: fewer,
            other_found,
        };
        return Err((*rank, kind.of_node(here.id, &here.name)));
    }
    Ok(())
}

fn shown(call: &Call) -> String {
    let name = COLLECTIVES[call.kind].0;
    call.root.map_or_else(|| name.into(), |root| format!("{name} with root {root}"))
}

/// The first of `count` tags above those of the files' own messages.
fn first_tag<'f>(file: &dyn Fn(u32) -> &'f ChakraFile, ranks: u32, count: u64) -> u64 {
    let tag = |node: &ChakraNode| match node.work {
        Work::Send { tag, .. } | Work::Receive { tag, .. } => Some(tag),
        _ => None,
    };
    let tags = (0..ranks).flat_map(|rank| file(rank).nodes.iter().filter_map(tag));
    let first = tags.max().map_or(0, |tag| tag + 1);
    if (first..first + count).contains(&ANY_TAG) { ANY_TAG + 1 } else { first }
}
