//! Bursts of jobs.

use odonata_sim::spec::{BurstSpec, JobSpec, Length};

use super::choices::Choices;

/// Fixed lengths of the bursts of a program, sometimes; `trip` is about the time of a packet from node to node.
pub fn fixed(c: &mut Choices, trip: u64, pauses: bool) -> Option<BurstSpec> {
    pauses.then(|| BurstSpec {
        on: Length::Fixed { ps: c.of(&[1, trip, trip * 5]) },
        off: Length::Fixed { ps: c.of(&[1, trip / 2 + 1, trip * 3]) },
    })
}

/// Gives some jobs with traffic bursts, and draws half of the lengths that are fixed.
pub fn add(c: &mut Choices, jobs: &mut [JobSpec]) {
    for job in jobs {
        if let Some(traffic) = &job.traffic {
            let interval = traffic.interval_ps;
            job.bursts = c.chance(30).then(|| BurstSpec {
                on: Length::Fixed { ps: c.of(&[1, interval, interval * 3]) },
                off: Length::Fixed { ps: c.of(&[1, interval / 2 + 1, interval]) },
            });
        }
        if let Some(bursts) = &mut job.bursts {
            (bursts.on, bursts.off) = (drawn(c, bursts.on), drawn(c, bursts.off));
        }
    }
}

/// A length that is drawn, about as long as a fixed one; or the fixed one.
fn drawn(c: &mut Choices, length: Length) -> Length {
    let Length::Fixed { ps: mean_ps } = length else { return length };
    match c.within(0, 7) {
        0 => Length::Exponential { mean_ps },
        1 => Length::Uniform { least_ps: mean_ps / 2 + 1, most_ps: mean_ps + c.within(1, mean_ps) },
        2 => Length::Lognormal { mean_ps, sigma_millionths: c.within(1, 800_000) },
        3 => Length::Pareto { mean_ps, shape_millionths: c.within(2_500_000, 5_000_000) },
        _ => length,
    }
}
