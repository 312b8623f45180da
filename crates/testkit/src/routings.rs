//! Routings with all their options.

use odonata_sim::routing::channels;
use odonata_sim::spec::{
    AriesMode, ChannelSwitch, Compare, FabricSpec, FparCandidates, Gateways, InsideGroup, Knowledge, ModePolicy,
    ROUTINGS, RoutingInfo, RoutingSpec, Select, Spread, TopologySpec, Values, Via,
};
use serde_json::{Map, Value};

use super::choices::Choices;

/// A routing of a Dragonfly+. `old` leaves out newer features; `whole` says that the machine has no failures.
pub fn dragonfly_plus(c: &mut Choices, machine: &TopologySpec, old: bool, whole: bool) -> RoutingSpec {
    if let Some(routing) = unknown(c, machine, None) {
        return routing;
    }
    let selects = [Select::Random, Select::LeastLoaded, Select::Hash];
    let select = c.of(if old { &selects[..2] } else { &selects });
    let candidates = c.of(&[FparCandidates::AllGroups, FparCandidates::OneGroup]);
    let via = c.of(if whole { &[Via::Spine, Via::Leaf] } else { &[Via::Spine] });
    match c.within(0, 9) {
        0 | 1 => RoutingSpec::Minimal { select, gateways: None },
        2 | 3 => RoutingSpec::Valiant { via, select, inside: None, gateways: None },
        4 | 5 => RoutingSpec::ProgAdaptive {
            threshold_bytes: c.of(&[0, 100, 2048, 100_000]),
            factor_milli: c.of(&[0, 333, 500, 1000, 2000]),
            candidates,
        },
        _ => RoutingSpec::Fpar {
            threshold_ppm: c.of(&[0, 1, 10_000, 100_000, 250_000, 500_000, 1_000_000]),
            compare: c.of(&[Compare::Below, Compare::AtMost]),
            candidates,
            channel_switch: ChannelSwitch::Intermediate,
        },
    }
}

/// A routing of a dragonfly or a cascade.
pub fn direct(c: &mut Choices, machine: &TopologySpec, gateways: Gateways, fabric: &FabricSpec) -> RoutingSpec {
    if let Some(routing) = unknown(c, machine, Some(gateways)) {
        return routing;
    }
    let select = c.of(&[Select::Random, Select::LeastLoaded, Select::Hash]);
    let via = c.of(&[Via::Group, Via::Router]);
    let inside = c.of(&[None, Some(InsideGroup::Minimal), Some(InsideGroup::Router), Some(InsideGroup::Router)]);
    let (minimal_candidates, other_candidates) = (c.of(&[1, 2]), c.of(&[1, 2]));
    let factor_milli = c.of(&[0, 500, 1000, 2000, 2000, 10_000]);
    let bias = |c: &mut Choices| u64::from(fabric.packet_bytes) * c.of(&[0, 0, 1, 2, 10]) + c.of(&[0, 0, 1]);
    let bias_bytes = bias(c);
    match c.within(0, 11) {
        0 => RoutingSpec::Minimal { select, gateways: Some(gateways) },
        1 | 2 => RoutingSpec::Valiant { via, select, inside, gateways: Some(gateways) },
        3..=5 => RoutingSpec::Ugal {
            knowledge: c.of(&[Knowledge::Local, Knowledge::Global]),
            via,
            inside,
            minimal_candidates,
            other_candidates,
            factor_milli,
            bias_bytes,
            gateways,
        },
        6 | 7 => {
            RoutingSpec::Par { via, inside, minimal_candidates, other_candidates, factor_milli, bias_bytes, gateways }
        }
        8 => RoutingSpec::AdaptiveLocal { factor_milli, inside, gateways },
        _ => RoutingSpec::Aries {
            mode: c.of(&[
                AriesMode::Adaptive0,
                AriesMode::Adaptive1,
                AriesMode::Adaptive1,
                AriesMode::Adaptive2,
                AriesMode::Adaptive3,
                AriesMode::MinHash,
                AriesMode::NminHash,
                AriesMode::InOrder,
            ]),
            bias_low_bytes: bias_bytes,
            bias_high_bytes: bias(c),
            gateways,
        },
    }
}

/// A routing of a fat tree.
pub fn fat_tree(c: &mut Choices, machine: &TopologySpec) -> RoutingSpec {
    if let Some(routing) = unknown(c, machine, None) {
        return routing;
    }
    RoutingSpec::UpDown { spread: c.of(Spread::ALL) }
}

/// A routing of a HyperX; `whole` says that the machine has no failures.
pub fn hyperx(c: &mut Choices, machine: &TopologySpec, whole: bool) -> RoutingSpec {
    if let Some(routing) = unknown(c, machine, None) {
        return routing;
    }
    let select = c.of(&[Select::Random, Select::LeastLoaded, Select::Hash]);
    match c.within(0, 9) {
        0 | 1 => RoutingSpec::Minimal { select, gateways: None },
        2 | 3 if whole => RoutingSpec::DimensionOrder { select },
        4 | 5 => RoutingSpec::Valiant { via: Via::Router, select, inside: None, gateways: None },
        _ => RoutingSpec::OmniWar { deroutes: c.of(&[0, 1, 1, 2, 3, 5]) },
    }
}

/// A routing of a graph.
pub fn graph(c: &mut Choices, machine: &TopologySpec, fabric: &FabricSpec) -> RoutingSpec {
    if let Some(routing) = unknown(c, machine, None) {
        return routing;
    }
    let select = c.of(&[Select::Random, Select::LeastLoaded, Select::Hash]);
    match c.within(0, 9) {
        0..=2 => RoutingSpec::Minimal { select, gateways: None },
        3..=5 => RoutingSpec::Valiant { via: Via::Router, select, inside: None, gateways: None },
        _ => {
            let bias_bytes = u64::from(fabric.packet_bytes) * c.of(&[0, 0, 1, 2]) + c.of(&[0, 0, 1]);
            RoutingSpec::UgalHops { other_candidates: c.of(&[1, 2]), bias_bytes }
        }
    }
}

/// Policies of application-aware routing; those that decide are drawn more often, the one that changes least most often.
const MODE_POLICIES: [ModePolicy; 11] = [
    ModePolicy::Default,
    ModePolicy::HighBias,
    ModePolicy::AppAware,
    ModePolicy::AppAware,
    ModePolicy::AppAwareContinuous,
    ModePolicy::AppAwareContinuous,
    ModePolicy::AppAwareH,
    ModePolicy::AppAwareH,
    ModePolicy::AppAwareH,
    ModePolicy::Bandit,
    ModePolicy::Bandit,
];

/// Application-aware routing whose policies change the mode often.
pub fn application_aware(c: &mut Choices, gateways: Gateways, fabric: &FabricSpec) -> RoutingSpec {
    let packet = u64::from(fabric.packet_bytes);
    RoutingSpec::ApplicationAware {
        policy: c.of(&MODE_POLICIES),
        then: (0..c.of(&[0, 0, 0, 1, 2])).map(|_| c.of(&MODE_POLICIES)).collect(),
        bias_high_bytes: packet * c.of(&[0, 1, 4, 100]),
        threshold_bytes: c.of(&[0, 0, 1, packet, packet * 4]),
        sample_age: c.of(&[1, 2, 5, 64]),
        latency_ratio_ppm: c.of(&[1_000, 800_000, 1_000_000, 1_250_000, 1_000_000_000]),
        stall_ratio_ppm: c.of(&[1_000, 800_000, 1_000_000, 1_300_000, 1_000_000_000]),
        margin_ppm: c.of(&[0, 50_000, 500_000]),
        dwell: c.of(&[0, 1, 2, 8]),
        gateways,
    }
}

/// UGAL-G without a bias, so that small differences of loads decide.
pub fn global_ugal(c: &mut Choices) -> RoutingSpec {
    RoutingSpec::Ugal {
        knowledge: Knowledge::Global,
        via: c.of(&[Via::Group, Via::Router]),
        inside: None,
        minimal_candidates: 2,
        other_candidates: 2,
        factor_milli: 1000,
        bias_bytes: 0,
        gateways: c.of(&[Gateways::Nearest, Gateways::All]),
    }
}

/// The routings that the generator draws with options chosen for their effect.
const KNOWN: [&str; 14] = [
    "minimal",
    "valiant",
    "prog-adaptive",
    "fpar",
    "ugal",
    "par",
    "adaptive-local",
    "aries",
    "application-aware",
    "up-down",
    "dimension-order",
    "omni-war",
    "ugal-hops",
    "custom",
];

/// Sometimes a routing of the list that is not among [`KNOWN`], if there is one for the machine.
fn unknown(c: &mut Choices, machine: &TopologySpec, gateways: Option<Gateways>) -> Option<RoutingSpec> {
    let news = |info: &&RoutingInfo| info.machines.contains(&machine.kind()) && !KNOWN.contains(&info.name);
    let all: Vec<&RoutingInfo> = ROUTINGS.iter().filter(news).collect();
    if all.is_empty() || !c.chance(25) {
        return None;
    }
    let info = c.of(&all);
    loop {
        let routing = any_options(c, info, gateways);
        if channels(&routing, machine).is_some() {
            return Some(routing);
        }
    }
}

/// A routing of the list with any options, which may have no effect on some machines; `gateways` are those of a direct
/// machine.
pub fn any_options(c: &mut Choices, info: &RoutingInfo, gateways: Option<Gateways>) -> RoutingSpec {
    let mut told = Map::from_iter([("name".to_owned(), Value::from(info.name))]);
    for option in info.options {
        let value = match (option.values, gateways) {
            (_, None) if option.optional => continue,
            (_, Some(gateways)) if option.name == "gateways" => serde_json::to_value(gateways).expect("it has a name"),
            (Values::Names(names), _) => c.of(names).0.into(),
            (Values::Other, _) if option.name == "program" => "test-any".into(),
            (Values::Other, _) => panic!("`{}` of `{}` has neither names nor a range", option.name, info.name),
            // Small numbers are as likely as large ones.
            (Values::Number { least, most }, _) => (least + (c.within(0, most - least) >> c.within(0, 40))).into(),
        };
        told.insert(option.name.to_owned(), value);
    }
    serde_json::from_value(told.into()).unwrap_or_else(|e| panic!("`{}`: {e}", info.name))
}
