//! No routing lets packets wait for each other in a cycle, and a routing that would is refused.

use odonata_error::{ErrorKind, path};
use odonata_sim::routing::deadlock::{check, cycle};
use odonata_sim::spec::{ChannelSwitch, Compare, FparCandidates, RoutingSpec};
use odonata_sim::{Spec, run};

use crate::graph::{acyclic, graph};
use crate::support::{machine, output, paths, routings, spec, stream};

/// Two to five groups; every spine has a link to every group (dense), or some have none (sparse), or most have none.
const SIZES: [([u32; 5], Option<u32>); 10] = [
    ([2, 2, 2, 1, 2], None),
    ([2, 3, 3, 1, 1], Some(1)),
    ([3, 2, 2, 1, 4], None),
    ([3, 2, 3, 1, 2], Some(1)),
    ([3, 1, 4, 1, 3], Some(2)),
    ([4, 2, 3, 1, 6], None),
    ([4, 2, 3, 1, 4], Some(4)),
    ([4, 3, 2, 1, 2], Some(1)),
    ([5, 2, 4, 1, 4], None),
    ([5, 2, 2, 1, 2], Some(1)),
];

fn on(size: [u32; 5], links: Option<u32>, routing: RoutingSpec) -> Spec {
    let nodes = size[0] * size[1] * size[3];
    spec(machine(size, links), routing, vec![stream(0, nodes - 1, 5_000)])
}

/// Catches a routing or an option that reuses a channel in the wrong order: the graph of all virtual channels would
/// have a cycle, and a run could deadlock.
#[test]
fn no_packets_can_wait_in_a_cycle() {
    for (size, links) in SIZES.into_iter().chain([([5, 2, 5, 1, 4], Some(3)), ([4, 1, 6, 1, 5], Some(4))]) {
        for routing in routings() {
            let spec = on(size, links, routing);
            let graph = graph(&spec);
            assert!(!graph.edges.is_empty());
            assert!(acyclic(&graph.edges), "{size:?}, {links:?}, {:?}", spec.routing);
            assert_eq!(check(&paths(&spec)), Ok(()), "{size:?}, {links:?}, {:?}", spec.routing);
            assert_eq!(output(&spec).jobs[0].delivered, 1);
        }
    }
}

fn published_rule(candidates: FparCandidates) -> RoutingSpec {
    let channel_switch = ChannelSwitch::IntermediateLeaf;
    RoutingSpec::Fpar { threshold_ppm: 500_000, compare: Compare::AtMost, candidates, channel_switch }
}

/// Checks that the run is refused wherever the full graph has a cycle, with the cycle in the message. Returns how
/// often.
fn refused(sizes: &[([u32; 5], Option<u32>)]) -> u32 {
    let mut refused = 0;
    for &(size, links) in sizes {
        for candidates in [FparCandidates::AllGroups, FparCandidates::OneGroup] {
            let case = format!("{size:?}, {links:?}, {candidates:?}");
            let spec = on(size, links, published_rule(candidates));
            let full = graph(&spec);
            let result = check(&paths(&spec));
            if acyclic(&full.edges) {
                // The proof looks at kinds of virtual channel, so it may refuse more than it must; but with two groups
                // there is no non-minimal path.
                assert!(result.is_ok() || size[0] > 2, "{case}: {result:?}");
                continue;
            }
            refused += 1;
            let vcs = cycle(&full.edges).expect("the graph has a circle");
            assert!(vcs.len() > 2 && vcs.first() == vcs.last(), "{vcs:?}");
            assert!(vcs.windows(2).all(|w| full.edges.contains(&(w[0], w[1]))), "{vcs:?} is no circle");
            let Err(error) = result else { panic!("{case} is accepted, but packets can wait in a circle: {vcs:?}") };
            let cycle = vec!["across, channel 0".to_string(); 2];
            let expected = ErrorKind::CouldDeadlock { routings: vec!["fpar"], cycle }.at(path!["routing"]);
            assert_eq!(error, expected);
            assert_eq!(run(&spec, &mut ()).err(), Some(expected), "{case}");
        }
    }
    refused
}

/// Catches a proof that proves nothing: with the authors' channel rule, global links do wait for each other.
#[test]
fn the_rule_of_the_published_code_is_refused() {
    let count = refused(&SIZES);
    assert!(count >= 8, "only {count} machines show the defect");
}

/// Catches a proof on a small machine that does not represent the large one: spines with links to some groups only, but
/// to more than one.
#[test]
fn the_rule_of_the_published_code_is_refused_on_sparse_machines_too() {
    let sparse = [
        ([5, 2, 5, 1, 4], Some(3)),
        ([4, 2, 3, 1, 2], Some(2)),
        ([6, 2, 3, 1, 4], Some(2)),
        ([4, 1, 24, 1, 18], Some(23)),
    ];
    assert!(refused(&sparse) >= 6);
}

/// Catches a search that misses cycles, or finds one where there is none.
#[test]
fn cycles_are_found_in_graphs_drawn_by_hand() {
    let find = |edges: &[(u8, u8)]| cycle(&edges.iter().copied().collect());
    assert_eq!(find(&[]), None);
    assert_eq!(find(&[(1, 2), (1, 3), (2, 4), (3, 4), (4, 5)]), None);
    assert_eq!(find(&[(7, 7)]), Some(vec![7, 7]));
    let found = find(&[(1, 2), (2, 3), (3, 4), (4, 2), (4, 5)]).expect("2, 3, 4");
    assert_eq!((found.len(), found.first()), (4, found.last()));
    assert!([2, 3, 4].iter().all(|v| found.contains(v)));
}
