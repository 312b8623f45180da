//! Bytes by job and link class.

/// Bytes committed to links, by job and link class; counted only if a job has a program.
#[derive(Debug)]
pub struct ByClass {
    bytes: Vec<u64>,
    classes: usize,
}

impl ByClass {
    /// Zero counts for these numbers of jobs and classes.
    #[must_use]
    pub fn new(jobs: usize, classes: usize) -> Self {
        Self { bytes: vec![0; jobs * classes], classes }
    }

    /// Counts a packet.
    pub fn add(&mut self, job: u16, class: u8, bytes: u32) {
        self.bytes[usize::from(job) * self.classes + usize::from(class)] += u64::from(bytes);
    }

    /// Takes over what another partition has counted.
    pub fn absorb(&mut self, other: &Self) {
        self.bytes.iter_mut().zip(&other.bytes).for_each(|(to, of)| *to += of);
    }

    /// The counts, row-major `[job][class]`.
    #[must_use]
    pub fn into_bytes(self) -> Vec<u64> {
        self.bytes
    }
}
