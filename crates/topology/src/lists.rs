//! Many short lists of ports in one vector.

use odonata_error::Error;

use crate::error::bounded;
use std::ops::Range;

/// Most ports of a table.
pub(crate) const MAX_ENTRIES: u64 = 1 << 28;

/// Lists of ports by row.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lists {
    rows: Vec<(u32, u32)>,
    ports: Vec<u16>,
}

impl Lists {
    /// Number of rows.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Refuses more ports than [`MAX_ENTRIES`]. A row has fewer than 2^31 ports, so the count cannot overflow before
    /// this check.
    pub fn bounded(&self, what: &'static str) -> Result<(), Error> {
        bounded(&[(what, self.ports.len() as u128, MAX_ENTRIES)])
    }

    /// Adds a row.
    pub fn push(&mut self, ports: impl IntoIterator<Item = u16>) {
        let start = self.ports.len() as u32;
        self.ports.extend(ports);
        self.rows.push((start, self.ports.len() as u32));
    }

    /// Adds a row. It shares the entries of the row before if the lists are the same.
    pub fn push_shared(&mut self, ports: &[u16]) {
        match self.rows.last() {
            Some(&(start, end)) if &self.ports[span(start, end)] == ports => self.rows.push((start, end)),
            _ => self.push(ports.iter().copied()),
        }
    }

    /// The list of a row.
    #[inline]
    pub fn get(&self, row: usize) -> &[u16] {
        let (start, end) = self.rows[row];
        &self.ports[span(start, end)]
    }
}

fn span(start: u32, end: u32) -> Range<usize> {
    start as usize..end as usize
}
