//! Reads CSV.

use std::collections::BTreeMap;

use odonata_error::{Error, ErrorKind};

use super::{BYTES, COLUMNS, OPERATION, OPERATIONS, PEER, RANK, TAG, TIME};
use crate::trace::chain::{Chain, peer};
use crate::trace::graph::{Action, Trace};
use crate::trace::problem::Source;
use crate::trace::problem::{at, cut};
use crate::trace::quantity::{split, time_ps};
use crate::trace::{ANY_TAG, MAX_BYTES, draft};

type Result<T> = std::result::Result<T, Error>;

impl Trace {
    /// Reads a table of operations.
    ///
    /// # Errors
    /// [`Error`] with the position of what cannot be read or does not match.
    pub fn parse_csv(text: &str) -> Result<Self> {
        let text = draft::checked(text)?;
        let mut rows = Rows { text, position: 0, line: 0 };
        let Some(first) = rows.next() else {
            return Err(at(text, text.len(), ErrorKind::NoHeader { columns: COLUMNS.to_vec() }));
        };
        let header = Header::new(first)?;
        let mut chains: BTreeMap<u32, Chain> = BTreeMap::new();
        for row in rows {
            let row = CsvRow { place: header.fields(row)?, row };
            let rank = row.rank(RANK)?;
            row.read(rank, chains.entry(rank).or_default())?;
        }
        finish(text, &header, chains)
    }
}

/// Checks what is known only at the end: that no rank is missing, and that peers exist.
fn finish(text: &str, header: &Header, chains: BTreeMap<u32, Chain>) -> Result<Trace> {
    let Some((&last, _)) = chains.last_key_value() else {
        return Err(at(text, text.len(), ErrorKind::NoRows {}));
    };
    if let Some((missing, _)) = (0..).zip(chains.keys()).find(|(rank, found)| rank != *found) {
        return Err(at(text, text.len(), ErrorKind::RankWithoutRows { rank: missing, last }));
    }
    let bad = |(place, action): (u32, Action)| peer(action).filter(|peer| *peer > last).map(|peer| (place, peer));
    let of = |chain: &Chain| {
        chain
            .draft
            .details
            .iter()
            .zip(&chain.draft.operations)
            .map(|(details, operation)| (details.place, operation.action))
            .collect::<Vec<_>>()
    };
    let all = chains.values().flat_map(of);
    if let Some((place, peer)) = all.filter_map(bad).min() {
        let row = Rows { text, position: place as usize, line: 0 }.next();
        let place = row.map(|row| header.fields(row)).transpose()?.map_or(place as usize, |fields| fields[PEER].1);
        return Err(at(text, place, ErrorKind::NoSuchRank { rank: peer.into(), ranks: last + 1 }));
    }
    draft::finish(Source::Text(text), chains.into_values().map(|chain| chain.draft).collect())
}

/// The lines that are not empty.
struct Rows<'a> {
    text: &'a str,
    position: usize,
    line: u32,
}

/// A line: the whole text, the start and end of the line in it, and its number.
#[derive(Clone, Copy)]
struct Line<'a> {
    text: &'a str,
    begin: usize,
    end: usize,
    line: u32,
}

impl<'a> Iterator for Rows<'a> {
    type Item = Line<'a>;

    fn next(&mut self) -> Option<Line<'a>> {
        while self.position < self.text.len() {
            let begin = self.position;
            let rest = &self.text[begin..];
            let length = rest.find('\n').unwrap_or(rest.len());
            self.position = (begin + length + 1).min(self.text.len());
            self.line += 1;
            let line = rest[..length].trim();
            if !line.is_empty() && !line.starts_with('#') {
                return Some(Line { text: self.text, begin, end: begin + length, line: self.line });
            }
        }
        None
    }
}

impl<'a> Line<'a> {
    /// The text between the commas, without blanks and quotes around it, and its position.
    fn fields(self) -> impl Iterator<Item = (&'a str, usize)> {
        let mut next = self.begin;
        self.text[self.begin..self.end].split(',').map(move |raw| {
            let field = raw.trim();
            let place = next + raw.len() - raw.trim_start().len();
            next += raw.len() + 1;
            match field.strip_prefix('"').and_then(|f| f.strip_suffix('"')) {
                Some(inner) => (inner, place + 1),
                None => (field, place),
            }
        })
    }
}

/// The position of each column.
struct Header {
    columns: Vec<usize>,
}

impl Header {
    fn new(line: Line<'_>) -> Result<Self> {
        let mut columns = Vec::new();
        for (name, place) in line.fields() {
            let Some(column) = COLUMNS.iter().position(|known| *known == name) else {
                let kind = ErrorKind::UnknownName { what: "column", found: cut(name), known: COLUMNS.to_vec() };
                return Err(at(line.text, place, kind));
            };
            if columns.contains(&column) {
                let kind = ErrorKind::SecondTime { what: "column", found: name.into(), first_line: None };
                return Err(at(line.text, place, kind));
            }
            columns.push(column);
        }
        match [RANK, OPERATION].into_iter().find(|column| !columns.contains(column)) {
            Some(column) => Err(at(line.text, line.begin, ErrorKind::MissingColumn { column: COLUMNS[column] })),
            None => Ok(Self { columns }),
        }
    }

    /// The fields of a row by column. Missing fields are empty, at the end of the line.
    fn fields<'a>(&self, line: Line<'a>) -> Result<[(&'a str, usize); COLUMNS.len()]> {
        let end = line.begin + line.text[line.begin..line.end].trim_end().len();
        let mut fields = [("", end); COLUMNS.len()];
        for (number, (field, place)) in line.fields().enumerate() {
            let Some(&column) = self.columns.get(number) else {
                return Err(at(line.text, place, ErrorKind::TooManyFields { most: self.columns.len() }));
            };
            fields[column] = (field, place);
        }
        Ok(fields)
    }
}

struct CsvRow<'a> {
    row: Line<'a>,
    place: [(&'a str, usize); COLUMNS.len()],
}

impl CsvRow<'_> {
    fn fail(&self, column: usize, kind: ErrorKind) -> Error {
        at(self.row.text, self.place[column].1, kind)
    }

    fn field(&self, column: usize) -> &str {
        self.place[column].0
    }

    /// A whole number up to a maximum.
    fn whole(&self, column: usize, most: u64) -> Result<u64> {
        let (field, what) = (self.field(column), COLUMNS[column]);
        if field.is_empty() {
            return Err(self.fail(column, self.missing(what)));
        }
        let digits = field.bytes().all(|byte| byte.is_ascii_digit());
        match field.parse() {
            Ok(value) if digits && value <= most => Ok(value),
            _ if digits => Err(self.fail(column, ErrorKind::TooLarge { what, found: cut(field), most })),
            _ => Err(self.fail(column, ErrorKind::NotWhole { what, found: cut(field) })),
        }
    }

    fn missing(&self, field: &'static str) -> ErrorKind {
        ErrorKind::MissingField { operation: cut(self.field(OPERATION)), field }
    }

    fn rank(&self, column: usize) -> Result<u32> {
        self.whole(column, u64::from(u32::MAX) - 1).map(|rank| rank as u32)
    }

    fn tag(&self) -> Result<u64> {
        match if self.field(TAG).is_empty() { 0 } else { self.whole(TAG, u64::MAX)? } {
            ANY_TAG => Err(self.fail(TAG, ErrorKind::AnyTag { found: ANY_TAG.to_string() })),
            tag => Ok(tag),
        }
    }

    /// Refuses a field that the operation does not have.
    fn without(&self, columns: &[usize]) -> Result<()> {
        let Some(&column) = columns.iter().find(|&&column| !self.field(column).is_empty()) else { return Ok(()) };
        let (operation, found) = (cut(self.field(OPERATION)), cut(self.field(column)));
        Err(self.fail(column, ErrorKind::NeedlessField { operation, field: COLUMNS[column], found }))
    }

    /// Appends the operation to those of its rank.
    fn read(&self, rank: u32, chain: &mut Chain) -> Result<()> {
        let place = self.row.begin as u32;
        let operation = self.field(OPERATION);
        match operation {
            "send" | "isend" | "recv" | "irecv" => {
                self.without(&[TIME])?;
                let (peer, bytes) = (self.rank(PEER)?, self.whole(BYTES, MAX_BYTES)?);
                let action = if operation.ends_with("send") {
                    Action::Send { to: peer, label: 0, bytes }
                } else {
                    Action::Receive { from: peer, label: 0, bytes }
                };
                chain.push(action, self.tag()?, !operation.starts_with('i'), place, self.row.line);
            }
            "compute" => {
                self.without(&[PEER, BYTES, TAG])?;
                if self.field(TIME).is_empty() {
                    return Err(self.fail(TIME, self.missing(COLUMNS[TIME])));
                }
                let (number, unit) = split(self.field(TIME));
                let ps = time_ps(number, unit).map_err(|kind| self.fail(TIME, kind))?;
                chain.push(Action::Compute { ps }, 0, true, place, self.row.line);
            }
            "wait" if self.field(PEER).is_empty() => {
                self.without(&[BYTES, TAG, TIME])?;
                chain.wait();
            }
            "wait" => {
                self.without(&[BYTES, TIME])?;
                let (peer, tag) = (self.rank(PEER)?, self.tag()?);
                chain
                    .wait_for(peer, tag)
                    .ok_or_else(|| self.fail(OPERATION, ErrorKind::NothingToWaitFor { rank, peer, tag }))?;
            }
            "" => self.without(&[PEER, BYTES, TAG, TIME])?,
            other => {
                let (found, known) = (cut(other), OPERATIONS.to_vec());
                return Err(self.fail(OPERATION, ErrorKind::UnknownName { what: "operation", found, known }));
            }
        }
        Ok(())
    }
}
