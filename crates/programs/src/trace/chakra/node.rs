//! What a node does.

use std::collections::BTreeMap;
use std::ops::Range;

use odonata_error::{Error, ErrorKind};

use super::ChakraOptions;
use super::groups::{Group, described};
use super::schema::{
    Attribute, COLLECTIVE, COLLECTIVES, COMPUTE, LOAD, METADATA, Node, OLD_COLLECTIVES, RECEIVE, SEND, STORE, Value,
};
use crate::trace::problem::cut;
use crate::trace::{ANY_TAG, MAX_BYTES};

/// Picoseconds of a microsecond, the unit of the schema.
const MICROSECOND: u64 = 1_000_000;

/// The largest tag of a message, so that the messages of collectives have tags above.
pub const MOST_TAG: u64 = (1 << 63) - 1;

/// A node of a trace.
pub struct ChakraNode {
    pub id: u64,
    pub name: Box<str>,
    pub work: Work,
    /// The nodes whose ends it waits for: a range of [`super::file::ChakraFile::waits`].
    pub ends: Range<usize>,
    /// The nodes whose beginnings it waits for, which only files of Odonata have; the range follows `ends`.
    pub begins: Range<usize>,
    /// The stream of the GPU that it is in: it begins when the node before it in this stream has ended.
    pub stream: Option<i64>,
    /// The CPU that the file names, which only files of Odonata do.
    pub cpu: Option<u32>,
    pub nic: u8,
}

/// What a node does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Work {
    /// Nothing: it only carries dependencies.
    Nothing,
    /// It computes, on the GPU or on the host.
    Compute { ps: u64, host: bool },
    /// It sends a message.
    Send { to: u32, bytes: u64, tag: u64 },
    /// It receives a message.
    Receive { from: u32, bytes: u64, tag: u64 },
    /// It takes part in a collective.
    Collective(Call),
}

/// A collective.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// An index into [`COLLECTIVES`].
    pub kind: usize,
    /// As in the file: of a vector, or of what one rank contributes.
    pub bytes: u64,
    /// The root, as a rank of the job; none for the first rank of the group.
    pub root: Option<u32>,
    pub group: Group,
}

/// Reads a node. `ends` are its dependencies; those on beginnings are appended to `waits`, and process groups that it
/// describes to `groups`.
///
/// # Errors
/// With the node.
pub fn node(
    raw: Node,
    ends: Range<usize>,
    old: bool,
    options: &ChakraOptions,
    groups: &mut BTreeMap<String, Vec<u32>>,
    waits: &mut Vec<u64>,
) -> Result<ChakraNode, Error> {
    let fields = Fields { raw: &raw, options };
    let work = fields.work(old)?;
    let cpu = fields.number("cpu", u32::MAX.into())?.map(|cpu| cpu as u32);
    let nic = fields.number("nic", u8::MAX.into())?.unwrap_or(0) as u8;
    if let Some(value) = fields.value("start_deps") {
        let expected = "ids of nodes";
        let bad = || fields.bad("start_deps", value, expected);
        for id in value.list().ok_or_else(bad)? {
            waits.push(u64::try_from(id).map_err(|_| bad())?);
        }
    }
    if raw.name.contains("process_group:init")
        && let Some(inputs) = &raw.inputs
    {
        described(&inputs.values, groups);
    }
    let begins = ends.end..waits.len();
    let stream = fields.stream(&work)?;
    Ok(ChakraNode { id: raw.id, name: raw.name.into(), work, ends, begins, stream, cpu, nic })
}

/// The values of a node.
struct Fields<'a> {
    raw: &'a Node,
    options: &'a ChakraOptions,
}

impl<'a> Fields<'a> {
    fn fail(&self, kind: ErrorKind) -> Error {
        kind.of_node(self.raw.id, &self.raw.name)
    }

    fn value(&self, name: &str) -> Option<&'a Value> {
        self.raw.attributes.iter().find(|attribute: &&Attribute| attribute.name == name)?.value.as_ref()
    }

    fn bad(&self, attribute: &'static str, found: &Value, expected: &'static str) -> Error {
        self.fail(ErrorKind::ChakraBadValue { attribute, found: cut(&found.shown()), expected })
    }

    /// A whole number up to a maximum.
    fn number(&self, attribute: &'static str, most: u64) -> Result<Option<u64>, Error> {
        let Some(value) = self.value(attribute) else { return Ok(None) };
        match value.whole().map(u64::try_from) {
            Some(Ok(number)) if number <= most => Ok(Some(number)),
            Some(Ok(number)) => {
                Err(self.fail(ErrorKind::TooLarge { what: attribute, found: number.to_string(), most }))
            }
            _ => Err(self.bad(attribute, value, "a whole number of at least 0")),
        }
    }

    fn needed(&self, operation: &'static str, attribute: &'static str, most: u64) -> Result<u64, Error> {
        let missing = || self.fail(ErrorKind::ChakraMissingValue { operation, attribute });
        self.number(attribute, most)?.ok_or_else(missing)
    }

    fn is_host(&self) -> bool {
        self.value("is_cpu_op").and_then(Value::whole).is_some_and(|host| host != 0)
    }

    /// The stream of work of a GPU. (Converters give nodes of the host a stream too, 0.)
    fn stream(&self, work: &Work) -> Result<Option<i64>, Error> {
        if *work == Work::Nothing || self.is_host() {
            return Ok(None);
        }
        let Some(value) = self.value("stream") else { return Ok(None) };
        match value.whole().map(i64::try_from) {
            Some(Ok(stream)) => Ok((stream >= 0).then_some(stream)),
            _ => Err(self.bad("stream", value, "a whole number")),
        }
    }

    fn work(&self, old: bool) -> Result<Work, Error> {
        let rank = u64::from(u32::MAX) - 1;
        Ok(match self.raw.kind {
            METADATA => Work::Nothing,
            COMPUTE => Work::Compute { ps: self.computing()?, host: self.is_host() },
            LOAD | STORE => Work::Compute { ps: self.moving()?, host: false },
            SEND => {
                let (to, bytes) =
                    (self.needed("send", "comm_dst", rank)?, self.needed("send", "comm_size", MAX_BYTES)?);
                Work::Send { to: to as u32, bytes, tag: self.tag()? }
            }
            RECEIVE => {
                let (from, bytes) =
                    (self.needed("receive", "comm_src", rank)?, self.needed("receive", "comm_size", MAX_BYTES)?);
                Work::Receive { from: from as u32, bytes, tag: self.tag()? }
            }
            COLLECTIVE => Work::Collective(self.call(old)?),
            found => return Err(self.fail(ErrorKind::ChakraNodeType { found: found.to_string() })),
        })
    }

    fn tag(&self) -> Result<u64, Error> {
        match self.number("comm_tag", MOST_TAG)?.unwrap_or(0) {
            ANY_TAG => Err(self.fail(ErrorKind::AnyTag { found: ANY_TAG.to_string() })),
            tag => Ok(tag),
        }
    }

    /// The time that the file states.
    fn stated(&self) -> Result<Option<u64>, Error> {
        if let Some(ps) = self.number("duration_ps", u64::MAX)? {
            return Ok(Some(ps));
        }
        let most = u64::MAX / MICROSECOND;
        let micros = match self.raw.duration_micros {
            0 => self.number("runtime", most)?,
            micros if micros > most => {
                let found = micros.to_string();
                return Err(self.fail(ErrorKind::TooLarge { what: "duration_micros", found, most }));
            }
            micros => Some(micros),
        };
        Ok(micros.map(|micros| micros * MICROSECOND))
    }

    /// A stated time; else that of the roofline; else none.
    fn computing(&self) -> Result<u64, Error> {
        if let Some(ps) = self.stated()? {
            return Ok(ps);
        }
        let Some(operations) = self.number("num_ops", u64::MAX)?.filter(|&operations| operations > 0) else {
            return Ok(0);
        };
        let Some(peak) = self.options.peak else {
            return Err(self.fail(ErrorKind::ChakraNeedsKey { attribute: "num_ops", missing: "peak" }));
        };
        let ps = (u128::from(operations) * 1_000_000_000_000).div_ceil(peak.get().into());
        let ps = u64::try_from(ps).map_err(|_| {
            self.fail(ErrorKind::TooLarge { what: "num_ops", found: operations.to_string(), most: u64::MAX })
        })?;
        Ok(ps.max(self.moving_data()?))
    }

    /// A stated time; else that of the bytes.
    fn moving(&self) -> Result<u64, Error> {
        self.stated()?.map_or_else(|| self.moving_data(), Ok)
    }

    fn moving_data(&self) -> Result<u64, Error> {
        let Some(bytes) = self.number("tensor_size", u64::MAX)?.filter(|&bytes| bytes > 0) else { return Ok(0) };
        let Some(memory) = self.options.memory else {
            return Err(self.fail(ErrorKind::ChakraNeedsKey { attribute: "tensor_size", missing: "memory" }));
        };
        let ps = (u128::from(bytes) * 1_000_000_000_000_000_000).div_ceil(memory.get().into());
        u64::try_from(ps).map_err(|_| {
            self.fail(ErrorKind::TooLarge { what: "tensor_size", found: bytes.to_string(), most: u64::MAX })
        })
    }

    fn call(&self, old: bool) -> Result<Call, Error> {
        let number = self.needed("collective", "comm_type", u64::MAX)? as usize;
        let kind = if old { OLD_COLLECTIVES.get(number).copied() } else { Some(number) };
        let known = || COLLECTIVES.iter().filter(|(_, name)| name.is_some()).map(|(name, _)| *name).collect();
        let Some((kind, &(schema, name))) = kind.and_then(|kind| Some((kind, COLLECTIVES.get(kind)?))) else {
            return Err(self.fail(ErrorKind::ChakraCollective { found: number.to_string(), known: known() }));
        };
        let Some(name) = name else {
            return Err(self.fail(ErrorKind::ChakraCollective { found: schema.into(), known: known() }));
        };
        let bytes = match name {
            "barrier" => 0,
            _ => self.needed("collective", "comm_size", MAX_BYTES)?,
        };
        let root = self.number("root", u64::from(u32::MAX) - 1)?.map(|root| root as u32);
        Ok(Call { kind, bytes, root, group: self.group()? })
    }

    /// The process group. A named one comes before dimensions.
    fn group(&self) -> Result<Group, Error> {
        for name in ["pg_name", "comm_group"] {
            let Some(value) = self.value(name) else { continue };
            let shown = value.shown();
            if !shown.is_empty() {
                return Ok(Group::Named(shown));
            }
        }
        let Some(value) = self.value("involved_dim") else { return Ok(Group::All) };
        let Some(list) = value.list().or_else(|| value.whole().map(|whole| vec![whole])) else {
            return Err(self.bad("involved_dim", value, "a list of truth values"));
        };
        let involved: Vec<bool> = list.iter().map(|&dimension| dimension != 0).collect();
        match (involved.iter().all(|&of| of), self.options.dimensions.len()) {
            (true, _) => Ok(Group::All),
            (false, 0) => {
                Err(self.fail(ErrorKind::ChakraNeedsKey { attribute: "involved_dim", missing: "dimensions" }))
            }
            (false, count) if count != involved.len() => {
                Err(self.bad("involved_dim", value, "as many truth values as `dimensions` has extents"))
            }
            _ => Ok(Group::Dimensions(involved)),
        }
    }
}
