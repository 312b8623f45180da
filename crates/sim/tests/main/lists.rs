//! The list of routings agrees with the algorithms.

use odonata_sim::routing::channels;
use odonata_sim::spec::{MAX_CHANNELS, ROUTINGS, RoutingSpec};
use odonata_testkit::{Choices, any_options};

const MACHINES: [&str; 4] = ["dragonfly-plus", "dragonfly", "cascade", "fat-tree"];

/// Catches a routing that is listed for machines without an algorithm of its name, and the reverse.
#[test]
fn a_routing_has_an_algorithm_on_the_machines_it_is_listed_for() {
    let mut c = Choices::new(3);
    for info in ROUTINGS {
        let drawn: Vec<RoutingSpec> = (0..100).map(|_| any_options(&mut c, info, None)).collect();
        assert!(drawn.iter().all(|routing| routing.name() == info.name));
        for machine in MACHINES {
            let needs: Vec<u8> = drawn.iter().filter_map(|routing| channels(routing, machine)).collect();
            assert_eq!(!needs.is_empty(), info.machines.contains(&machine), "`{}` on a {machine}", info.name);
            assert!(needs.iter().all(|need| (1..=MAX_CHANNELS).contains(need)), "`{}` needs {needs:?}", info.name);
        }
        assert!(info.machines.iter().all(|machine| MACHINES.contains(machine)), "{:?}", info.machines);
    }
}

/// Catches a number that the list allows and the check refuses, or a field without a range in the list.
#[test]
fn numbers_are_checked_against_the_list() {
    let mut c = Choices::new(4);
    for info in ROUTINGS {
        for routing in (0..200).map(|_| any_options(&mut c, info, None)) {
            assert!(routing.numbers().into_iter().all(|(_, value, range)| range.contains(&value)), "{routing:?}");
        }
    }
}
