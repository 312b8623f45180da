//! For how long a NIC has held back packets, and for which jobs.

/// Instead of a job that holds a queue: that of the packet itself.
pub const OWN: u16 = u16::MAX;

/// For how long a NIC has held back packets to another one.
#[derive(Clone, Debug, Default)]
pub struct Held {
    /// In all.
    pub ps: u64,
    /// Of that, because of marks that name other jobs: each with its time.
    pub for_others: Vec<(u16, u64)>,
}

impl Held {
    /// So long, and for no other job.
    #[must_use]
    pub fn own(ps: u64) -> Self {
        Self { ps, for_others: Vec::new() }
    }

    /// So much longer, for a job or [`OWN`].
    pub fn add(&mut self, ps: u64, holder: u16) {
        self.ps += ps;
        if holder == OWN || ps == 0 {
            return;
        }
        match self.for_others.iter_mut().find(|of| of.0 == holder) {
            Some((_, sum)) => *sum += ps,
            None => self.for_others.push((holder, ps)),
        }
    }
}
