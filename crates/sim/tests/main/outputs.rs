//! A route decision is checked before it indexes tables.

use std::collections::BTreeSet;

use odonata_sim::Spec;
use odonata_sim::fabric::{RouterPlace, Wiring};
use odonata_topology::{Port, RouterId};

use crate::support::{MINIMAL, build, machine, output, spec, stream};

fn small() -> Spec {
    spec(machine([3, 1, 1, 1, 2], None), MINIMAL, vec![stream(0, 2, 2_500)])
}

fn wiring(spec: &Spec) -> Wiring {
    Wiring::new(spec, &build(spec).network)
}

/// Catches two outputs with the same index, and an index beyond the end of a table.
#[test]
fn every_output_has_a_place_of_its_own() {
    let spec = small();
    let (wiring, network) = (wiring(&spec), build(&spec).network);
    let mut vcs = BTreeSet::new();
    for router in 0..network.routers() as u32 {
        for port in 0..network.ports(RouterId(router)) {
            for channel in 0..spec.fabric.channels {
                let output = wiring.output(RouterPlace::of(&network, RouterId(router)), port, channel);
                assert_eq!(output.slot(), network.slot(RouterId(router), Port(port)).index());
                assert!(vcs.insert(output.vc()));
            }
        }
    }
    assert_eq!(vcs.len(), network.peer.len() * usize::from(spec.fabric.channels));
    assert_eq!(vcs.last(), Some(&(vcs.len() - 1)));
}

#[test]
#[should_panic(expected = "no such output")]
fn a_port_beyond_those_of_the_router_is_no_output() {
    let spec = small();
    let place = RouterPlace::of(&build(&spec).network, RouterId(0));
    let _ = wiring(&spec).output(place, place.ports, 0);
}

#[test]
#[should_panic(expected = "no such output")]
fn a_channel_beyond_those_of_the_fabric_is_no_output() {
    let spec = small();
    let place = RouterPlace::of(&build(&spec).network, RouterId(0));
    let _ = wiring(&spec).output(place, 0, spec.fabric.channels);
}

/// Small enough for Miri, which checks every memory access.
#[test]
fn a_run_of_a_few_packets() {
    let output = output(&small());
    assert_eq!((output.jobs[0].packets, output.packet_hops), (3, 12));
}
