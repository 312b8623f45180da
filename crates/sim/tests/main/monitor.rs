//! A monitor sees a run advance, and can end it.

use odonata_error::{Error, ErrorKind};
use odonata_sim::spec::{Pattern, PhaseAction};
use odonata_sim::{Monitor, Progress, QueueChoice, Spec, run, run_with};

use crate::programs::support::{FREE, of, phases, program, star};
use crate::support::{MINIMAL, job, machine, output, spec};

/// Records what it sees, and ends the run at the given call.
struct Watch {
    seen: Vec<Progress>,
    last: usize,
}

impl Monitor for Watch {
    fn progress(&mut self, progress: &Progress) -> Result<(), Error> {
        self.seen.push(*progress);
        if self.seen.len() > self.last { Err(ErrorKind::Interrupted {}.into()) } else { Ok(()) }
    }
}

fn busy() -> Spec {
    let all = job("all", (0..32).collect(), Pattern::UniformRandom {}, 2_000, 300_000, 2_000);
    spec(machine([4, 4, 2, 2, 3], None), MINIMAL, vec![all])
}

/// Catches progress that stops, runs backwards or counts beyond what is expected.
#[test]
fn progress_advances() {
    let mut watch = Watch { seen: Vec::new(), last: usize::MAX };
    let spec = busy();
    let (output, cost) = run(&spec, &mut watch).expect("it runs");
    assert!(watch.seen.len() >= 5, "{} looks", watch.seen.len());
    assert_eq!((watch.seen[0].events, watch.seen[0].delivered), (0, 0));
    for pair in watch.seen.windows(2) {
        assert!(pair[1].events > pair[0].events && pair[1].packet_hops > pair[0].packet_hops);
        assert!(pair[1].delivered >= pair[0].delivered);
        assert_eq!(pair[1].expected, 32 * 2_000);
    }
    let last = watch.seen.last().expect("there are looks");
    assert!(last.delivered > 0 && last.delivered <= 64_000 && last.now_ps > 0 && last.now_ps <= output.end_ps);
    assert!(cost.events > last.events && output.packet_hops > last.packet_hops);
}

/// Catches Ctrl-C that is lost, and a monitor that changes the result.
#[test]
fn a_run_can_be_interrupted_at_any_look() {
    let spec = busy();
    for last in [0, 1, 3] {
        let mut watch = Watch { seen: Vec::new(), last };
        assert_eq!(run(&spec, &mut watch).err(), Some(ErrorKind::Interrupted {}.into()), "look {last}");
        assert_eq!(watch.seen.len(), last + 1, "the run went on after it was interrupted");
    }
    let mut watch = Watch { seen: Vec::new(), last: usize::MAX };
    assert!(run(&spec, &mut watch).expect("it runs").0 == output(&spec));
}

/// A router may schedule any number of events for itself within one window. Catches a window without a call of the
/// monitor.
#[test]
fn nobody_waits_for_the_end_of_a_window() {
    let compute = phases(&[PhaseAction::Compute { ps: 1, jitter_ps: 0 }]);
    let mut busy = program("busy", &[0, 1], FREE, compute);
    of(&mut busy).iterations = Some(200_000);
    let mut spec = star(2, vec![busy]);
    spec.fabric.links.values_mut().for_each(|link| link.latency_ps = 50_000); // the length of a window
    for queue in [QueueChoice::Wheel, QueueChoice::Ordered] {
        let mut watch = Watch { seen: Vec::new(), last: usize::MAX };
        let (_, cost) = run_with(&spec, &mut watch, queue).expect("it runs");
        assert!(cost.events > 200_000);
        for pair in watch.seen.windows(2) {
            assert!(pair[1].events - pair[0].events < 40_000, "{queue:?}: {pair:?}");
        }
        assert!(watch.seen.len() >= 5, "{queue:?}: {} looks", watch.seen.len());
    }
}
