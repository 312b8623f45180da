//! The load of every link over time, by job, and the routes that packets take (docs/model.md, section 9, "Series").

/// Most slices of time.
const SERIES_SLICES: usize = 256;

/// Most rows, of 24 bytes each.
const MAX_ROWS: usize = 1 << 22;

/// Columns of equal length, one row per link, slice of time and job with traffic there, sorted so.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Series {
    /// Width of a slice (not a column); 0 if nothing was sent.
    pub width_ps: u64,
    /// The directed link: a slot, or the number of slots plus the NIC.
    pub link: Vec<u32>,
    /// Number of the slice, from 0.
    pub slice: Vec<u16>,
    /// Index of the job.
    pub job: Vec<u16>,
    /// Bytes of the packets whose transmission begins in the slice.
    pub bytes: Vec<u64>,
    /// The time for which these packets waited for the link, all together; 0 at a NIC.
    pub wait_ps: Vec<u64>,
    /// The routes of the packets that reach their node, by the same slices.
    pub routes: Routes,
}

impl Series {
    /// Adds a row.
    pub fn push(&mut self, link: u32, slice: u16, job: u16, bytes: u64, wait_ps: u64) {
        self.link.push(link);
        self.slice.push(slice);
        self.job.push(job);
        self.bytes.push(bytes);
        self.wait_ps.push(wait_ps);
    }
}

/// Columns of equal length, one row per slice and job with packets, sorted so.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Routes {
    /// Number of the slice, from 0.
    pub slice: Vec<u16>,
    /// Index of the job.
    pub job: Vec<u16>,
    /// Packets whose transmission to their node begins in the slice.
    pub packets: Vec<u64>,
    /// Those of them that were never diverted.
    pub minimal: Vec<u64>,
}

impl Routes {
    /// Adds a row.
    pub fn push(&mut self, slice: u16, job: u16, packets: u64, minimal: u64) {
        self.slice.push(slice);
        self.job.push(job);
        self.packets.push(packets);
        self.minimal.push(minimal);
    }
}

#[derive(Clone, Copy, Debug, Default)]
struct Row {
    link: u32,
    slice: u16,
    job: u16,
    bytes: u64,
    wait_ps: u64,
}

/// Packets, and those of them that were never diverted.
type Routed = (u64, u64);

/// Counts by link, slice and job.
///
/// A slice is 2^shift picoseconds wide. The width doubles when there are too many slices or rows. So the final width is
/// the least one that is allowed, whatever the order of the counts.
///
/// Packets are noted one after the other and summed up from time to time: a packet touches no memory of its link.
#[derive(Debug)]
pub struct SeriesCounts {
    shift: u32,
    /// Sums, sorted.
    rows: Vec<Row>,
    /// A row for each packet since.
    noted: Vec<Row>,
    most: usize,
    /// By job and slice.
    routes: Vec<[Routed; SERIES_SLICES]>,
}

impl Default for SeriesCounts {
    /// Nothing yet.
    fn default() -> Self {
        Self::with_limit(MAX_ROWS)
    }
}

impl SeriesCounts {
    fn with_limit(most: usize) -> Self {
        Self { shift: 0, rows: Vec::new(), noted: Vec::new(), most, routes: Vec::new() }
    }

    /// Counts a packet of some bytes whose transmission begins at `start`, after `wait_ps`. Times do not decrease at a
    /// link. (Not inlined, as its callers are.)
    #[inline(never)]
    pub fn count(&mut self, link: usize, job: u16, bytes: u32, start: u64, wait_ps: u64) {
        while start >> self.shift >= SERIES_SLICES as u64 {
            self.coarsen();
        }
        let slice = (start >> self.shift) as u16;
        self.noted.push(Row { link: link as u32, slice, job, bytes: u64::from(bytes), wait_ps });
        if self.noted.len() >= self.most / 4 && self.noted.len() >= self.rows.len() / 2 {
            self.sum_up();
        }
    }

    /// Counts the route of a packet whose transmission to its node begins at `start`, and was counted.
    #[inline]
    pub fn count_route(&mut self, job: u16, start: u64, minimal: bool) {
        if usize::from(job) >= self.routes.len() {
            self.routes.resize(usize::from(job) + 1, [(0, 0); SERIES_SLICES]);
        }
        let of = &mut self.routes[usize::from(job)][(start >> self.shift) as usize];
        *of = (of.0 + 1, of.1 + u64::from(minimal));
    }

    /// Doubles the width of a slice.
    #[cold]
    fn coarsen(&mut self) {
        self.shift += 1;
        self.rows.iter_mut().chain(&mut self.noted).for_each(|row| row.slice /= 2);
        for slices in &mut self.routes {
            let [mut joint, before] = [[(0, 0); SERIES_SLICES], *slices];
            for (slice, (packets, minimal)) in before.into_iter().enumerate() {
                let of: &mut Routed = &mut joint[slice / 2];
                *of = (of.0 + packets, of.1 + minimal);
            }
            *slices = joint;
        }
    }

    /// One row per link, slice and job, and not too many of them.
    #[cold]
    #[inline(never)]
    fn sum_up(&mut self) {
        self.join();
        loop {
            // The rows of a link are in the order of their slices.
            debug_assert!(self.rows.is_sorted_by_key(|row| (row.link, row.slice)));
            for same in self.rows.chunk_by_mut(|one, next| (one.link, one.slice) == (next.link, next.slice)) {
                same.sort_unstable_by_key(|row| row.job);
            }
            self.rows.dedup_by(|next, kept| {
                let same = (next.link, next.slice, next.job) == (kept.link, kept.slice, kept.job);
                if same {
                    kept.bytes += next.bytes;
                    kept.wait_ps += next.wait_ps;
                }
                same
            });
            if self.rows.len() <= self.most {
                return;
            }
            self.coarsen();
        }
    }

    /// Puts the noted rows of each link behind its sums: a counting sort by link.
    fn join(&mut self) {
        let links = self.rows.iter().chain(&self.noted).map(|row| row.link as usize + 1).max().unwrap_or(0);
        // How many noted rows come before those of a link.
        let mut before = vec![0_usize; links + 1];
        self.noted.iter().for_each(|row| before[row.link as usize + 1] += 1);
        (1..=links).for_each(|link| before[link] += before[link - 1]);
        let sums = self.rows.len();
        self.rows.resize(sums + self.noted.len(), Row::default());
        // Sums move up, the last first. Then the noted rows of a link begin behind its last sum.
        let mut next = vec![0; links];
        let mut link = links;
        for at in (0..sums).rev() {
            let row = self.rows[at];
            while link > row.link as usize {
                link -= 1;
                next[link] = at + 1 + before[link];
            }
            self.rows[at + before[row.link as usize]] = row;
        }
        next[..link].copy_from_slice(&before[..link]);
        for row in self.noted.drain(..) {
            let at = &mut next[row.link as usize];
            self.rows[*at] = row;
            *at += 1;
        }
    }

    /// Takes over what another partition has counted for other links.
    pub fn absorb(&mut self, mut other: Self) {
        while self.shift < other.shift {
            self.coarsen();
        }
        while other.shift < self.shift {
            other.coarsen();
        }
        self.routes.resize(self.routes.len().max(other.routes.len()), [(0, 0); SERIES_SLICES]);
        for (to, of) in self.routes.iter_mut().flatten().zip(other.routes.iter().flatten()) {
            *to = (to.0 + of.0, to.1 + of.1);
        }
        // The sums of a link come before what was noted since.
        self.noted.append(&mut other.rows);
        self.noted.append(&mut other.noted);
        self.sum_up();
    }

    /// The columns.
    #[must_use]
    pub fn into_output(mut self) -> Series {
        self.sum_up();
        let mut series = Series::default();
        if !self.rows.is_empty() {
            series.width_ps = 1 << self.shift;
        }
        for row in self.rows {
            series.push(row.link, row.slice, row.job, row.bytes, row.wait_ps);
        }
        for slice in 0..SERIES_SLICES {
            for (job, slices) in self.routes.iter().enumerate() {
                let (packets, minimal) = slices[slice];
                if packets > 0 {
                    series.routes.push(slice as u16, job as u16, packets, minimal);
                }
            }
        }
        series
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_width_is_the_least_with_few_enough_slices() {
        let mut counts = SeriesCounts::default();
        counts.count(0, 1, 10, 0, 0);
        counts.count(0, 0, 20, 255, 5);
        assert_eq!(counts.shift, 0);
        counts.count(1, 0, 30, 256, 7);
        counts.count(1, 0, 40, 257, 8);
        let output = counts.into_output();
        assert_eq!((output.width_ps, output.link, output.slice), (2, vec![0, 0, 1], vec![0, 127, 128]));
        assert_eq!((output.job, output.bytes, output.wait_ps), (vec![1, 0, 0], vec![10, 20, 70], vec![0, 5, 15]));
    }

    #[test]
    fn the_width_is_the_least_with_few_enough_rows_whatever_the_order() {
        let packets = |link: usize| (0..50_u64).map(move |k| (link, (k % 3) as u16, 3 * k + link as u64));
        let counted = |packets: Vec<(usize, u16, u64)>| {
            let mut counts = SeriesCounts::with_limit(40);
            for (link, job, start) in packets {
                counts.count(link, job, 8, start, 1);
            }
            counts.into_output()
        };
        let mut by_time: Vec<_> = packets(0).chain(packets(1)).collect();
        let by_link = by_time.clone();
        by_time.sort_by_key(|packet| packet.2);
        let output = counted(by_link);
        assert_eq!(output, counted(by_time));
        assert_eq!(output.width_ps, 32, "with 16 there would be 60 rows");
        assert_eq!((output.link.len(), output.bytes.iter().sum::<u64>()), (30, 800));
        assert_eq!(output.wait_ps.iter().sum::<u64>(), 100);
    }

    #[test]
    fn nothing_has_no_width() {
        assert_eq!(SeriesCounts::default().into_output(), Series::default());
    }
}
