//! The list of routings agrees with the algorithms.

use odonata_error::path;
use odonata_sim::routing::channels;
use odonata_sim::spec::{
    CONGESTION_LAWS, CongestionLaw, Feedback, MAX_CHANNELS, MarkingPorts, ROUTINGS, RoutingSpec, TopologySpec,
};
use odonata_testkit::{Choices, any_options};

/// A machine of each kind: all that a routing's number of channels depends on.
const MACHINES: [&str; 6] = [
    r#"{"kind": "dragonfly-plus", "groups": 3, "leaves": 2, "spines": 2, "nodes_per_leaf": 1,
        "global_links_per_spine": 2, "arrangement": "linear"}"#,
    r#"{"kind": "dragonfly", "groups": 3, "routers": 2, "nodes_per_router": 1, "global_links_per_router": 2,
        "arrangement": "absolute"}"#,
    r#"{"kind": "cascade", "groups": 3, "rows": 2, "columns": 2, "nodes_per_router": 1, "global_links_per_router": 2,
        "column_links": 1, "arrangement": "absolute"}"#,
    r#"{"kind": "fat-tree", "pods": 1, "leaves": 2, "spines": 2, "cores": 0, "nodes_per_leaf": 1, "leaf_links": 1,
        "core_links": 1}"#,
    r#"{"kind": "hyperx", "dimensions": [2, 3, 2], "dimension_links": [1, 1, 1], "nodes_per_router": 1}"#,
    r#"{"kind": "graph", "routers": 4, "nics": [0, 1, 2], "weights": [1], "links": [[0, 1, 1], [1, 3, 1], [3, 2, 1]]}"#,
];

/// Catches a routing that is listed for machines without an algorithm of its name, and the reverse.
#[test]
fn a_routing_has_an_algorithm_on_the_machines_it_is_listed_for() {
    let mut c = Choices::new(3);
    let machines: Vec<TopologySpec> =
        MACHINES.iter().map(|json| serde_json::from_str(json).expect("it is a machine")).collect();
    for info in ROUTINGS {
        let drawn: Vec<RoutingSpec> = (0..100).map(|_| any_options(&mut c, info, None)).collect();
        assert!(drawn.iter().all(|routing| routing.name() == info.name));
        for machine in &machines {
            let needs: Vec<u8> = drawn.iter().filter_map(|routing| channels(routing, machine)).collect();
            let kind = machine.kind();
            assert_eq!(!needs.is_empty(), info.machines.contains(&kind), "`{}` on a {kind}", info.name);
            assert!(needs.iter().all(|need| (1..=MAX_CHANNELS).contains(need)), "`{}` needs {needs:?}", info.name);
        }
        let known = |kind| machines.iter().any(|machine| machine.kind() == kind);
        assert!(info.machines.iter().all(|&kind| known(kind)), "{:?}", info.machines);
    }
}

/// Catches a kind whose name is not the one that a specification has.
#[test]
fn the_kind_of_a_machine_is_its_name_in_a_specification() {
    for json in MACHINES {
        let machine: TopologySpec = serde_json::from_str(json).expect("it is a machine");
        let told: serde_json::Value = serde_json::from_str(json).expect("it is JSON");
        assert_eq!(machine.kind(), told["kind"]);
    }
}

/// Catches a number that the list allows and the check refuses, or a field without a range in the list.
#[test]
fn numbers_are_checked_against_the_list() {
    let mut c = Choices::new(4);
    for info in ROUTINGS {
        for routing in (0..200).map(|_| any_options(&mut c, info, None)) {
            assert_eq!(routing.check_ranges(&path!["routing"]), Ok(()), "{routing:?}");
        }
    }
}

/// The reference simulator reads these rows too, so its equality with the fast one says nothing of them. Here they are as in
/// docs/model.md, section 3.
#[test]
fn laws_mark_and_answer_as_the_page_says() {
    let rows: Vec<_> = [
        CongestionLaw::Slingshot,
        CongestionLaw::EcnWindow,
        CongestionLaw::Nscc { target_ps: 1 },
        CongestionLaw::ReceiverCredit { ahead_bytes: 1 },
    ]
    .iter()
    .map(|law| (law.name(), law.marking(), law.feedback()))
    .collect();
    let expected = [
        ("slingshot", MarkingPorts::ToNodes, Feedback::Senders),
        ("ecn-window", MarkingPorts::All, Feedback::None),
        ("nscc", MarkingPorts::All, Feedback::Hops),
        ("receiver-credit", MarkingPorts::None, Feedback::Turn),
    ];
    assert_eq!(rows, expected);
    assert_eq!(rows.len(), CONGESTION_LAWS.len());
}
