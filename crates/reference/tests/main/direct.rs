//! Ways and channels on small dragonflies and cascades, worked out by hand. Catches a reading of the model that is
//! wrong in both simulators alike, which their equality cannot show.

use odonata_sim::Spec;

const GB: u64 = 1_000_000_000_000_000;

/// One packet of 1,000 B from node to node on an idle machine; every link takes 1,000 ns for it, wires and routers
/// nothing.
fn spec(topology: &str, classes: &[&str], channels: u8, routing: &str, [from, to]: [u32; 2]) -> Spec {
    let link = format!(r#"{{"bandwidth":{GB},"latency_ps":0,"buffer_bytes":1000,"credit_delay_ps":0}}"#);
    let links: Vec<String> = classes.iter().map(|class| format!(r#""{class}":{link}"#)).collect();
    let text = format!(
        r#"{{"version":1,"seed":5,"compat":null,"topology":{topology},
        "fabric":{{"packet_bytes":1000,"router_delay_ps":0,"channels":{channels},
            "nic":{{"overhead_ps":0,"order":"fcfs"}},"links":{{{}}}}},
        "routing":{routing},
        "jobs":[{{"name":"pair","nodes":[{from},{to}],"record":"every-message","traffic":{{
            "pattern":{{"name":"broadcast","root":0}},"message_bytes":1000,"interval_ps":1,"intervals":1,
            "arrival":{{"name":"constant","jitter_ps":0}},"first":"at-zero"}}}}],
        "stop":{{"jobs":[0],"at_ps":null}},"measure":{{"from_ps":0,"until_ps":null,"arrivals_every_ps":null}}}}"#,
        links.join(",")
    );
    Spec::from_json(&text).unwrap_or_else(|e| panic!("{e}: {text}"))
}

/// The links between routers that the packet took: from, to, channel; in no order.
fn path(spec: &Spec) -> Vec<(u32, u32, usize)> {
    let output = odonata_reference::run(spec, &mut ()).unwrap_or_else(|e| panic!("{e}"));
    let machine = spec.machine().expect("it ran");
    let (network, channels) = (machine.network(), usize::from(spec.fabric.channels));
    let mut path = Vec::new();
    for (slot, peer) in network.peer.iter().enumerate() {
        let odonata_topology::Peer::Router(far) = peer else { continue };
        let ends = [network.router_of_slot[slot], network.router_of_slot[far.index()]];
        let used = (0..channels).filter(|channel| output.links.packets[slot * channels + channel] > 0);
        path.extend(used.map(|channel| (ends[0].0, ends[1].0, channel)));
    }
    // Injection, the links between routers, ejection.
    assert_eq!(output.messages.latency_ps, [1_000_000 * (path.len() as u64 + 2)], "{}", spec.to_json());
    assert_eq!(output.jobs[0].hops, path.len() as u64);
    path.sort_unstable_by_key(|&(from, to, channel)| (channel, from, to));
    path
}

/// Three groups of two routers with a node each. Routers 0 and 2, 1 and 4, 3 and 5 are joined across groups.
fn dragonfly(channels: u8, routing: &str, nodes: [u32; 2]) -> Vec<(u32, u32, usize)> {
    let topology = r#"{"kind":"dragonfly","groups":3,"routers":2,"nodes_per_router":1,"global_links_per_router":1,
        "arrangement":"absolute"}"#;
    path(&spec(topology, &["node", "local", "global"], channels, routing, nodes))
}

#[test]
fn minimal_paths_of_a_dragonfly() {
    for routing in [
        r#"{"name":"minimal","select":"random","gateways":"all"}"#,
        r#"{"name":"minimal","select":"least-loaded","gateways":"nearest"}"#,
        r#"{"name":"minimal","select":"hash","gateways":"nearest"}"#,
        r#"{"name":"aries","mode":"in-order","bias_low_bytes":0,"bias_high_bytes":0,"gateways":"all"}"#,
        r#"{"name":"ugal","knowledge":"global","via":"group","minimal_candidates":2,"other_candidates":2,
            "factor_milli":0,"bias_bytes":0,"gateways":"all"}"#,
        r#"{"name":"par","via":"group","minimal_candidates":1,"other_candidates":1,"factor_milli":0,"bias_bytes":0,
            "gateways":"all"}"#,
        r#"{"name":"adaptive-local","factor_milli":1000,"gateways":"all"}"#,
    ] {
        assert_eq!(dragonfly(4, routing, [0, 1]), [(0, 1, 0)], "{routing}");
        assert_eq!(dragonfly(4, routing, [0, 2]), [(0, 2, 0)], "{routing}");
        assert_eq!(dragonfly(4, routing, [1, 2]), [(0, 2, 0), (1, 0, 0)], "{routing}");
        assert_eq!(dragonfly(4, routing, [1, 3]), [(0, 2, 0), (1, 0, 0), (2, 3, 1)], "{routing}");
    }
}

/// From group 0 to group 1 through group 2, the only other one, through all its stages.
#[test]
fn non_minimal_paths_of_a_dragonfly() {
    for routing in [
        r#"{"name":"valiant","via":"group","select":"random","gateways":"all"}"#,
        r#"{"name":"adaptive-local","factor_milli":0,"gateways":"all"}"#,
    ] {
        assert_eq!(dragonfly(3, routing, [0, 2]), [(0, 1, 0), (1, 4, 0), (4, 5, 1), (5, 3, 1), (3, 2, 2)], "{routing}");
        assert_eq!(dragonfly(3, routing, [1, 3]), [(1, 4, 0), (4, 5, 1), (5, 3, 1)], "{routing}");
        assert_eq!(dragonfly(3, routing, [0, 1]), [(0, 1, 0)], "{routing}: inside a group there is no way round");
    }
}

/// Without the cable between groups 0 and 1 every routing goes through group 2, and that is minimal.
#[test]
fn bridged_paths_of_a_dragonfly() {
    let topology = r#"{"kind":"dragonfly","groups":3,"routers":2,"nodes_per_router":1,"global_links_per_router":1,
        "global_links":[[1,4],[3,5]]}"#;
    for routing in [
        r#"{"name":"minimal","select":"random","gateways":"all"}"#,
        r#"{"name":"valiant","via":"router","select":"random","gateways":"all"}"#,
        r#"{"name":"adaptive-local","factor_milli":0,"gateways":"all"}"#,
    ] {
        let spec = spec(topology, &["node", "local", "global"], 4, routing, [0, 2]);
        assert_eq!(path(&spec), [(0, 1, 0), (1, 4, 0), (4, 5, 1), (5, 3, 1), (3, 2, 2)], "{routing}");
        assert_eq!(odonata_reference::run(&spec, &mut ()).expect("it ran").jobs[0].minimal, 1, "{routing}");
    }
}

/// One group of two rows and two columns: 0 1 above 2 3. S = 2.
#[test]
fn paths_inside_a_group_of_a_cascade() {
    let topology = r#"{"kind":"cascade","groups":1,"rows":2,"columns":2,"nodes_per_router":1,"column_links":1,
        "global_links_per_router":0,"arrangement":"absolute"}"#;
    let of = |routing: &str, seed: u64| {
        let mut spec = spec(topology, &["node", "chassis", "group", "optical"], 8, routing, [0, 3]);
        spec.seed = seed;
        path(&spec)
    };
    let row_first = vec![(0, 1, 0), (1, 3, 0)];
    let column_first = vec![(0, 2, 0), (2, 3, 1)];
    let non_minimal = [vec![(0, 1, 0), (1, 3, 2)], vec![(0, 2, 0), (2, 3, 2)]];
    let (mut minimal, mut valiant) = (Vec::new(), Vec::new());
    for seed in 0..20 {
        minimal.push(of(r#"{"name":"minimal","select":"random","gateways":"all"}"#, seed));
        valiant.push(of(r#"{"name":"valiant","via":"router","select":"random","gateways":"all"}"#, seed));
    }
    for expected in [&row_first, &column_first] {
        assert!(minimal.contains(expected), "{expected:?} is a shortest way: {minimal:?}");
    }
    assert!(minimal.iter().all(|path| *path == row_first || *path == column_first), "{minimal:?}");
    for expected in &non_minimal {
        assert!(valiant.contains(expected), "{expected:?} turns at a router: {valiant:?}");
    }
    assert!(valiant.iter().all(|path| non_minimal.contains(path)), "{valiant:?}");
}
