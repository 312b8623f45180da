//! Descriptions as JSON, as they stand in scenarios. Catches a key that changed its name or its default: documents and
//! ids of runs of today must stay what they are.

use odonata_topology::{
    Arrangement, CascadeSpec, DragonflyArrangement, DragonflyPlusSpec, DragonflySpec, Failures, Machine, RailsOn,
    Spread, TopologySpec,
};

fn read(json: &str) -> TopologySpec {
    serde_json::from_str(json).unwrap_or_else(|e| panic!("{json}: {e}"))
}

fn refused(json: &str) -> String {
    serde_json::from_str::<TopologySpec>(json).expect_err(json).to_string()
}

/// Values at their defaults are not written.
#[test]
fn the_shortest_descriptions() {
    let plus = r#"{"kind":"dragonfly-plus","groups":3,"leaves":1,"spines":2,"nodes_per_leaf":1,"global_links_per_spine":4,"arrangement":"linear"}"#;
    let spec = DragonflyPlusSpec {
        groups: 3,
        leaves: 1,
        spines: 2,
        nodes_per_leaf: 1,
        global_links_per_spine: 4,
        arrangement: Arrangement::Linear,
        ..DragonflyPlusSpec::default()
    };
    let flat = r#"{"kind":"dragonfly","groups":3,"routers":2,"nodes_per_router":1,"global_links_per_router":1,"arrangement":"palmtree"}"#;
    let flat_spec = DragonflySpec {
        groups: 3,
        routers: 2,
        nodes_per_router: 1,
        global_links_per_router: 1,
        arrangement: DragonflyArrangement::Palmtree,
        ..DragonflySpec::default()
    };
    let grid = r#"{"kind":"cascade","groups":2,"rows":2,"columns":3,"nodes_per_router":1,"column_links":3,"global_links_per_router":1,"arrangement":"relative"}"#;
    let grid_spec = CascadeSpec {
        groups: 2,
        rows: 2,
        columns: 3,
        nodes_per_router: 1,
        column_links: 3,
        global_links_per_router: 1,
        arrangement: DragonflyArrangement::Relative,
        ..CascadeSpec::default()
    };
    for (json, spec) in [
        (plus, TopologySpec::DragonflyPlus(spec)),
        (flat, TopologySpec::Dragonfly(flat_spec)),
        (grid, TopologySpec::Cascade(grid_spec)),
    ] {
        assert_eq!(read(json), spec);
        assert_eq!(serde_json::to_string(&spec).expect("JSON"), json);
        assert!(Machine::build(&spec, &Failures::default()).expect("it fits").network().nodes() > 0);
    }
}

/// Every key, with another value than its default.
#[test]
fn every_key() {
    let flat = r#"{"kind":"dragonfly","groups":3,"routers":4,"nodes_per_router":2,"local_links":2,"global_links_per_router":3,"links_per_pair":1,"arrangement":"random","arrangement_seed":5,"spread":"round-robin","pair_links":[[0,1,2]],"last_group_routers":2,"rails":2,"rails_on":"different-routers"}"#;
    let TopologySpec::Dragonfly(spec) = read(flat) else { panic!("another kind") };
    assert_eq!((spec.local_links, spec.arrangement_seed, spec.spread), (2, Some(5), Spread::RoundRobin));
    assert_eq!((spec.rails, spec.rails_on), (2, RailsOn::DifferentRouters));
    assert_eq!(serde_json::to_string(&TopologySpec::Dragonfly(spec)).expect("JSON"), flat);
    let grid = r#"{"kind":"cascade","groups":2,"rows":2,"columns":3,"nodes_per_router":1,"row_links":2,"column_links":3,"global_links_per_router":1,"last_group_rows":1,"global_links":[[0,6]]}"#;
    let TopologySpec::Cascade(spec) = read(grid) else { panic!("another kind") };
    assert_eq!((spec.row_links, spec.last_group_rows, spec.arrangement), (2, Some(1), DragonflyArrangement::Explicit));
    assert_eq!(serde_json::to_string(&TopologySpec::Cascade(spec)).expect("JSON"), grid);
    let plus = r#"{"kind":"dragonfly-plus","groups":2,"leaves":2,"spines":1,"nodes_per_leaf":1,"global_links_per_spine":1,"last_group_leaves":1,"global_links":[[2,4]]}"#;
    let spec = read(plus);
    assert_eq!(serde_json::to_string(&spec).expect("JSON"), plus);
    assert_eq!(Machine::build(&spec, &Failures::default()).expect("it fits").network().nodes(), 3);
    let plus = r#"{"kind":"dragonfly-plus","groups":2,"leaves":2,"spines":1,"nodes_per_leaf":1,"global_links_per_spine":9,"links_per_pair":2,"arrangement":"parallel","pair_links":[[0,1,4]],"rails":3}"#;
    let spec = read(plus);
    assert_eq!(serde_json::to_string(&spec).expect("JSON"), plus);
    assert_eq!(Machine::build(&spec, &Failures::default()).expect("it fits").network().endpoints(), 12);
}

#[test]
fn what_is_not_a_key_is_refused() {
    let unknown = refused(r#"{"kind":"dragonfly","groups":3,"routers":2,"nodes":1}"#);
    assert!(unknown.starts_with("unknown field `nodes`, expected one of `groups`, `routers`"), "{unknown}");
    let kind = refused(r#"{"kind":"torus"}"#);
    assert!(kind.starts_with("unknown variant `torus`, expected one of `dragonfly-plus`, `dragonfly`, `cascade`"));
    let column = refused(
        r#"{"kind":"cascade","groups":2,"rows":2,"columns":3,"nodes_per_router":1,"global_links_per_router":1}"#,
    );
    assert_eq!(column, "missing field `column_links`");
}

#[test]
fn failures() {
    let json = r#"{"links":[[3,4]],"routers":[1]}"#;
    let failures: Failures = serde_json::from_str(json).expect("failures");
    assert_eq!(failures, Failures { links: vec![[3, 4]], routers: vec![1] });
    assert_eq!(serde_json::to_string(&failures).expect("JSON"), json);
    let none: Failures = serde_json::from_str("{}").expect("nothing");
    assert!(none.is_empty() && serde_json::to_string(&none).expect("JSON") == "{}");
    assert!(serde_json::from_str::<Failures>(r#"{"nodes":[1]}"#).is_err());
}
