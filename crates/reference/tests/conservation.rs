//! Nothing is lost or made: packets, bytes and credits of the reference simulator. Catches a packet dropped or
//! delivered twice, a credit given back twice, late or never, and a message cut into the wrong packets.

use odonata_error::{Error, ErrorKind};
use odonata_reference::run_audited;
use odonata_sim::Spec;
use odonata_testkit as testkit;

#[test]
fn everything_is_accounted_for_on_a_dragonfly_plus() {
    account(testkit::spec);
}

#[test]
fn everything_is_accounted_for_on_a_broken_dragonfly_plus() {
    account(testkit::odd_spec);
}

#[test]
fn everything_is_accounted_for_on_dragonflies_and_cascades() {
    account(testkit::direct_spec);
}

/// Requests, clearances and data as well.
#[test]
fn everything_of_programs_is_accounted_for() {
    account(testkit::program_spec);
}

/// Every request has one response, and no window is exceeded; puts and gets.
#[test]
fn everything_of_nics_that_answer_is_accounted_for() {
    account(testkit::answered_spec);
}

/// Every packet has one acknowledgement, and no window towards a destination is exceeded.
#[test]
fn everything_of_nics_with_windows_is_accounted_for() {
    account(testkit::windowed_spec);
}

/// The same when acknowledgements change the windows.
#[test]
fn everything_under_congestion_control_is_accounted_for() {
    account(testkit::congested_spec);
}

/// The same with traffic classes.
#[test]
fn everything_of_traffic_classes_is_accounted_for() {
    account(testkit::classed_spec);
}

/// Each packet of a striped message leaves by one NIC and is delivered once.
#[test]
fn everything_of_striped_messages_is_accounted_for() {
    account(testkit::striped_spec);
}

fn account(spec: fn(u64) -> Spec) {
    let (mut cut_short, mut complete, mut stalled, mut diverted) = (0, 0, 0, 0);
    for seed in 0..300 {
        let spec = spec(seed);
        let (output, audit) = match run_audited(&spec, &mut ()) {
            Err(Error { kind: ErrorKind::DeadlockedProgram { .. } | ErrorKind::EndlessIterations {}, .. }) => continue,
            result => result.unwrap_or_else(|e| panic!("seed {seed}: {e}")),
        };
        assert_eq!(audit.problem(), None, "seed {seed}");
        let left = audit.packets_at_nics + audit.packets_under_way;
        if left > 0 {
            cut_short += 1;
        } else {
            complete += 1;
        }
        stalled += u32::from(output.links.stalled_ps.iter().any(|&t| t > 0));
        diverted += u32::from(output.jobs.iter().any(|j| j.minimal < j.packets));

        // Every packet was granted one injection link, one ejection link and its links between routers. (With responses,
        // the links of routers carry more, and the jobs count only packets with payload.)
        let nodes = spec.machine().expect("it was built before").network().endpoints();
        let routers = output.links.packets.len() - nodes;
        let injected: u64 = output.links.packets[routers..].iter().sum();
        assert_eq!(injected, audit.packets_issued - audit.packets_at_nics, "seed {seed}");
        if left == 0 && !spec.fabric.answers() {
            let hops: u64 = output.jobs.iter().map(|j| j.hops).sum();
            let between: u64 = output.links.packets[..routers].iter().sum();
            assert_eq!(between, hops + audit.packets_delivered, "seed {seed}");
            assert_eq!(output.packet_hops, between, "seed {seed}");
        }
    }
    // The generator must reach both kinds of end, full buffers and non-minimal paths.
    for (what, runs) in [("cut short", cut_short), ("complete", complete), ("stalled", stalled), ("diverted", diverted)]
    {
        assert!(runs >= 40, "only {runs} runs of 300 are {what}");
    }
}

#[test]
fn the_same_specification_gives_the_same_output() {
    for seed in 0..10 {
        let spec = testkit::spec(seed);
        let once = odonata_reference::run(&spec, &mut ()).expect("it runs");
        assert_eq!(once, odonata_reference::run(&spec, &mut ()).expect("it runs again"), "seed {seed}");
    }
}
