//! A file as a list of nodes: messages with their lengths before them, in the present schema or an older one.

use std::collections::BTreeMap;

use odonata_error::{Error, ErrorKind};
use prost::Message;
use prost::encoding::decode_varint;

use super::ChakraOptions;
use super::node::{ChakraNode, node};
use super::schema::{Attribute, GlobalMetadata, Node, OldNode};
use super::value::old_attribute;
use super::write::EXACT;

/// Most bytes of the varint before a message.
const LONGEST_VARINT: usize = 10;

/// What a file holds.
#[derive(Default)]
pub struct ChakraFile {
    /// In the order of the file.
    pub nodes: Vec<ChakraNode>,
    /// The dependencies of all nodes, as indices of nodes; [`ChakraNode`] has the ranges.
    pub waits: Vec<u32>,
    /// Ranks of the process groups that the file describes; none for all ranks.
    pub groups: BTreeMap<String, Vec<u32>>,
    /// Whether Odonata wrote it, so that dependencies and CPUs mean what they do in GOAL.
    pub exact: bool,
}

impl ChakraFile {
    /// Reads a file.
    ///
    /// # Errors
    /// With the byte or the node.
    pub fn read(bytes: &[u8], options: &ChakraOptions) -> Result<Self, Error> {
        let messages = messages(bytes)?;
        let mut file = Self::default();
        let mut rest = messages.as_slice();
        let mut old = true;
        if let Some(first) = rest.first()
            && !is_node(first.bytes)
        {
            let metadata = GlobalMetadata::decode(first.bytes).map_err(|e| unreadable(first, 1, &e))?;
            old = metadata.version.is_empty() && metadata.attributes.is_empty();
            file.exact = metadata.attributes.iter().any(|attribute| attribute.name == EXACT);
            // Before version 0.0.4 attributes were field 1, which is now the version.
            old |= !metadata.version.starts_with(|c: char| c.is_ascii_digit()) && !metadata.version.is_empty();
            rest = &rest[1..];
        }
        if rest.is_empty() {
            return Err(ErrorKind::ChakraWithoutNodes {}.at_byte(bytes.len()));
        }
        let before = (messages.len() - rest.len()) as u64;
        let old = old && rest.iter().any(|of| Node::decode(of.bytes).map_or(true, |n| !n.old_attributes.is_empty()));
        let mut ids = Vec::with_capacity(rest.len());
        let mut waits = Vec::new();
        file.nodes.reserve(rest.len());
        for (number, message) in (before + 1..).zip(rest) {
            let raw = if old { decode_old(message, number)? } else { decode(message, number)? };
            let from = waits.len();
            waits.extend(raw.data.iter().chain(&raw.control));
            ids.push(raw.id);
            let read = node(raw, from..waits.len(), old, options, &mut file.groups, &mut waits)?;
            file.nodes.push(read);
        }
        file.waits = resolve(&ids, &waits, &file.nodes)?;
        Ok(file)
    }

    /// Lets each node of a stream wait for the one before it in this stream: in the order of the file, or in this one.
    pub fn chain_streams(&mut self, order: Option<&[u32]>) {
        if self.nodes.iter().all(|node| node.stream.is_none()) {
            return;
        }
        let (mut last, mut before) = (BTreeMap::new(), vec![None; self.nodes.len()]);
        for place in 0..self.nodes.len() as u32 {
            let index = order.map_or(place, |order| order[place as usize]);
            if let Some(stream) = self.nodes[index as usize].stream {
                before[index as usize] = last.insert(stream, index);
            }
        }
        let mut waits = Vec::with_capacity(self.waits.len() + self.nodes.len());
        for (node, before) in self.nodes.iter_mut().zip(before) {
            let from = waits.len();
            waits.extend_from_slice(&self.waits[node.ends.clone()]);
            waits.extend(before);
            let middle = waits.len();
            waits.extend_from_slice(&self.waits[node.begins.clone()]);
            (node.ends, node.begins) = (from..middle, middle..waits.len());
        }
        self.waits = waits;
    }

    /// The nodes that a node waits for: for their ends, and for their beginnings.
    pub fn waits(&self, node: &ChakraNode) -> (&[u32], &[u32]) {
        (&self.waits[node.ends.clone()], &self.waits[node.begins.clone()])
    }
}

/// A message, and its first byte in the file.
struct Part<'a> {
    bytes: &'a [u8],
    begin: usize,
}

fn messages(bytes: &[u8]) -> Result<Vec<Part<'_>>, Error> {
    let mut messages = Vec::new();
    let mut begin = 0;
    while begin < bytes.len() {
        let mut rest = &bytes[begin..];
        let message = messages.len() as u64 + 1;
        let Ok(length) = decode_varint(&mut rest) else {
            let found_bytes = bytes.len() - begin;
            if found_bytes >= LONGEST_VARINT {
                let problem = "the length before it is no varint".to_string();
                return Err(ErrorKind::ChakraUnreadable { message, problem }.at_byte(begin));
            }
            return Err(ErrorKind::ChakraTruncated { message, need_bytes: None, found_bytes }.at_byte(begin));
        };
        if length > rest.len() as u64 {
            let found_bytes = rest.len();
            let kind = ErrorKind::ChakraTruncated { message, need_bytes: Some(length), found_bytes };
            return Err(kind.at_byte(begin));
        }
        let start = bytes.len() - rest.len();
        begin = start + length as usize;
        messages.push(Part { bytes: &bytes[start..begin], begin: start });
    }
    Ok(messages)
}

/// Whether a message is a node, not the metadata: only nodes have a type.
fn is_node(bytes: &[u8]) -> bool {
    Node::decode(bytes).map_or_else(|_| OldNode::decode(bytes).is_ok_and(|n| n.kind != 0), |n| n.kind != 0)
}

fn unreadable(part: &Part<'_>, message: u64, e: &prost::DecodeError) -> Error {
    ErrorKind::ChakraUnreadable { message, problem: e.to_string() }.at_byte(part.begin)
}

fn decode(part: &Part<'_>, number: u64) -> Result<Node, Error> {
    Node::decode(part.bytes).map_err(|e| unreadable(part, number, &e))
}

fn decode_old(part: &Part<'_>, number: u64) -> Result<Node, Error> {
    let old = OldNode::decode(part.bytes).map_err(|e| unreadable(part, number, &e))?;
    let attributes: Result<Vec<Attribute>, _> = old.attributes.iter().map(|bytes| old_attribute(bytes)).collect();
    let attributes = attributes.map_err(|e| unreadable(part, number, &e))?;
    Ok(Node { id: old.id, name: old.name, kind: old.kind, data: old.parents, attributes, ..Node::default() })
}

/// Ids of nodes as their indices.
fn resolve(ids: &[u64], waits: &[u64], nodes: &[ChakraNode]) -> Result<Vec<u32>, Error> {
    let mut sorted: Vec<(u64, u32)> = ids.iter().copied().zip(0..).collect();
    sorted.sort_unstable();
    if let Some(pair) = sorted.windows(2).find(|pair| pair[0].0 == pair[1].0) {
        let second = &nodes[pair[1].1 as usize];
        return Err(ErrorKind::ChakraSecondNode {}.of_node(second.id, &second.name));
    }
    let index = |id: u64| sorted.binary_search_by_key(&id, |&(id, _)| id).ok().map(|place| sorted[place].1);
    let mut resolved = Vec::with_capacity(waits.len());
    for node in nodes {
        // The two ranges follow each other.
        for &id in &waits[node.ends.start..node.begins.end] {
            let missing = || ErrorKind::ChakraMissingNode { node: id }.of_node(node.id, &node.name);
            resolved.push(index(id).ok_or_else(missing)?);
        }
    }
    Ok(resolved)
}
