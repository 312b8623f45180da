//! Which jobs hold the queues that mark packets, and which of them a mark names (docs/model.md, section 3, "Congestion
//! control").

use std::collections::VecDeque;

use super::held::OWN;
use crate::engine::random::{Source, Stream, below};

/// A packet that is committed to a link: until when it stands before it.
#[derive(Clone, Copy, Debug)]
struct Leaving {
    end: u64,
    ps: u64,
    job: u16,
}

/// The packets that have got the output of a port and have not left by it.
#[derive(Clone, Debug, Default)]
struct Port {
    /// Those that are not committed: serialisation times, by job. Jobs stay in the list.
    waiting: Vec<(u16, u64)>,
    /// The others, in order. (Some may have left.)
    leaving: VecDeque<Leaving>,
}

/// The queues of all ports between routers, and the names of the marks under way.
#[derive(Debug)]
pub(super) struct Standing {
    random: Source,
    /// By slot.
    ports: Vec<Port>,
    /// By slot of the request that is marked.
    names: Vec<u16>,
}

impl Standing {
    /// Empty queues at so many slots.
    pub(super) fn new(seed: u64, slots: usize) -> Self {
        Self { random: Source::new(seed, Stream::Holder), ports: vec![Port::default(); slots], names: Vec::new() }
    }

    /// A packet of a job gets the output of a slot.
    pub(super) fn join(&mut self, slot: usize, job: u16, ps: u64) {
        let waiting = &mut self.ports[slot].waiting;
        match waiting.iter_mut().find(|of| of.0 == job) {
            Some((_, sum)) => *sum += ps,
            None => {
                let place = waiting.partition_point(|of| of.0 < job);
                waiting.insert(place, (job, ps));
            }
        }
    }

    /// It is committed to the link at `now`, and will have left at `end`.
    pub(super) fn commit(&mut self, slot: usize, job: u16, ps: u64, [now, end]: [u64; 2]) {
        let Port { waiting, leaving } = &mut self.ports[slot];
        waiting.iter_mut().find(|of| of.0 == job).expect("it has the output").1 -= ps;
        while leaving.front().is_some_and(|first| first.end <= now) {
            leaving.pop_front();
        }
        leaving.push_back(Leaving { end, ps, job });
    }

    /// The job that a mark at `now` names at a slot.
    pub(super) fn name(&self, slot: usize, now: u64) -> u16 {
        let Port { waiting, leaving } = &self.ports[slot];
        let mut held = waiting.clone(); // H by job, in their order
        for &Leaving { end, ps, job } in leaving.iter().filter(|of| of.end > now) {
            let (place, part) = (held.partition_point(|of| of.0 < job), ps.min(end - now));
            match held.get_mut(place) {
                Some((other, sum)) if *other == job => *sum += part,
                _ => held.insert(place, (job, part)),
            }
        }
        let mut x = below(self.random.random(slot as u64, now), held.iter().map(|of| of.1).sum());
        let named = held.iter().find(|&&(_, ps)| {
            let is_in = x < ps;
            x = x.saturating_sub(ps);
            is_in
        });
        named.map_or(OWN, |of| of.0)
    }

    /// The mark of the request in a slot names a job.
    pub(super) fn note_name(&mut self, request: u32, job: u16) {
        let request = request as usize;
        if request >= self.names.len() {
            self.names.resize(request + 1, OWN);
        }
        self.names[request] = job;
    }

    /// The job that it names.
    pub(super) fn named(&self, request: u32) -> u16 {
        self.names[request as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_name_jobs_in_proportion_to_what_they_hold() {
        let mut standing = Standing::new(1, 1);
        for (job, ps) in [(2, 600), (0, 100), (2, 200), (1, 500), (0, 50)] {
            standing.join(0, job, ps);
        }
        standing.commit(0, 1, 500, [0, 500]);
        standing.commit(0, 2, 600, [0, 1_100]);
        // At 400 ps: 100 ps of job 1, 600 and 200 ps of job 2, and 150 ps of job 0.
        let at = |now: u64, count: u64| {
            let mut times = [0; 3];
            (0..count).for_each(|seed| {
                let of_seed = Standing {
                    random: Source::new(seed, Stream::Holder),
                    ports: standing.ports.clone(),
                    names: vec![],
                };
                times[usize::from(of_seed.name(0, now))] += 1;
            });
            times
        };
        let [a, b, c] = at(400, 10_500);
        assert!((1_400..1_600).contains(&a) && (900..1_100).contains(&b) && (7_800..8_200).contains(&c), "{a} {b} {c}");
        let [a, b, c] = at(500, 1_000);
        assert!(b == 0 && a + c == 1_000, "that of job 1 has left: {a} {b} {c}");
    }
}
