//! Process groups: which ranks a collective is for.

use std::collections::BTreeMap;

use odonata_error::{Error, ErrorKind};
use serde::Deserialize;

use super::ChakraOptions;
use super::file::ChakraFile;
use super::node::ChakraNode;

/// The process group of a collective, as a file names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Group {
    /// All ranks.
    All,
    /// By name.
    Named(String),
    /// Those that differ from the rank only in these dimensions.
    Dimensions(Vec<bool>),
}

/// A process group with its ranks: an order for collectives that are the same only if both are.
pub type Members = (String, Vec<u32>);

/// A process group as PyTorch describes it.
#[derive(Deserialize)]
struct Described {
    pg_name: String,
    #[serde(default)]
    ranks: Vec<u32>,
}

/// Adds the process groups that a node of PyTorch describes: a list in JSON, inside the text of other lists. What is not
/// such a list describes nothing.
pub fn described(text: &str, groups: &mut BTreeMap<String, Vec<u32>>) {
    let (Some(first), Some(last)) = (text.find('{'), text.rfind('}')) else { return };
    let Some(inner) = text.get(first..=last) else { return };
    for list in [format!("[{inner}]"), format!("[{}]", inner.replace("\\\"", "\""))] {
        if let Ok(list) = serde_json::from_str::<Vec<Described>>(&list) {
            groups.extend(list.into_iter().map(|group| (group.pg_name, group.ranks)));
            return;
        }
    }
}

impl Group {
    /// The name and the ranks of the group, for a rank of `ranks`.
    ///
    /// # Errors
    /// If nothing describes it, or if the rank is not in it.
    pub fn members(
        &self,
        rank: u32,
        ranks: u32,
        file: &ChakraFile,
        node: &ChakraNode,
        options: &ChakraOptions,
    ) -> Result<Members, Error> {
        let fail = |kind: ErrorKind| Err(kind.of_node(node.id, &node.name));
        let (name, members) = match self {
            Self::All => return Ok((String::new(), (0..ranks).collect())),
            Self::Dimensions(involved) => return Ok((String::new(), options.along(rank, involved))),
            Self::Named(name) => match options.groups.get(name).or_else(|| file.groups.get(name)) {
                Some(members) if members.is_empty() => return Ok((name.clone(), (0..ranks).collect())),
                Some(members) => (name.clone(), members.clone()),
                None => {
                    let known = options.groups.keys().chain(file.groups.keys()).take(100).cloned().collect();
                    return fail(ErrorKind::ChakraUnknownGroup { group: name.clone(), known });
                }
            },
        };
        if let Some(&outside) = members.iter().find(|&&member| member >= ranks) {
            return fail(ErrorKind::NoSuchRank { rank: outside.into(), ranks });
        }
        let mut sorted = members.clone();
        sorted.sort_unstable();
        if let Some(pair) = sorted.windows(2).find(|pair| pair[0] == pair[1]) {
            return fail(ErrorKind::ChakraBadGroup { group: name, rank: pair[0], problem: "twice" });
        }
        if sorted.binary_search(&rank).is_err() {
            return fail(ErrorKind::ChakraBadGroup { group: name, rank, problem: "outside" });
        }
        Ok((name, members))
    }
}

impl ChakraOptions {
    /// The ranks that differ from a rank only in these dimensions, ascending; the first dimension is the fastest.
    fn along(&self, rank: u32, involved: &[bool]) -> Vec<u32> {
        let mut members = vec![0];
        let mut stride = 1;
        for (&extent, &involved) in self.dimensions.iter().zip(involved) {
            let coordinate = rank / stride % extent;
            let choices = if involved { 0..extent } else { coordinate..coordinate + 1 };
            members = choices.flat_map(|at| members.iter().map(move |member| member + at * stride)).collect();
            stride *= extent;
        }
        members
    }
}
