//! Numbers of routings, and routings on machines that do not know them.

use odonata_sim::spec::{AriesMode, FparCandidates, ROUTINGS, RoutingSpec, Select, Via};

use super::super::support::{ALL, NEAREST, adaptive_local, aries, minimal, par, ugal, valiant};
use super::{GROUP, LOCAL, accepted, plus, refused, valid};
use crate::support::{fpar, prog_adaptive};

fn candidates(routing: RoutingSpec, minimal: u8, other: u8) -> RoutingSpec {
    match routing {
        RoutingSpec::Ugal { knowledge, via, factor_milli, bias_bytes, gateways, .. } => RoutingSpec::Ugal {
            knowledge,
            via,
            minimal_candidates: minimal,
            other_candidates: other,
            factor_milli,
            bias_bytes,
            gateways,
        },
        RoutingSpec::Par { via, factor_milli, bias_bytes, gateways, .. } => RoutingSpec::Par {
            via,
            minimal_candidates: minimal,
            other_candidates: other,
            factor_milli,
            bias_bytes,
            gateways,
        },
        other => other,
    }
}

fn weights(routing: RoutingSpec, factor: u64, bias: u64) -> RoutingSpec {
    match routing {
        RoutingSpec::Ugal { knowledge, via, minimal_candidates, other_candidates, gateways, .. } => RoutingSpec::Ugal {
            knowledge,
            via,
            minimal_candidates,
            other_candidates,
            factor_milli: factor,
            bias_bytes: bias,
            gateways,
        },
        RoutingSpec::Par { via, minimal_candidates, other_candidates, gateways, .. } => RoutingSpec::Par {
            via,
            minimal_candidates,
            other_candidates,
            factor_milli: factor,
            bias_bytes: bias,
            gateways,
        },
        other => other,
    }
}

#[test]
fn numbers_of_routings() {
    refused(
        valid,
        &[
            (
                |s| s.routing = candidates(ugal(LOCAL, GROUP, 1, ALL), 0, 1),
                "routing.minimal_candidates",
                "0 is not between 1 and 2",
            ),
            (
                |s| s.routing = candidates(ugal(LOCAL, GROUP, 1, ALL), 3, 1),
                "routing.minimal_candidates",
                "3 is not between 1 and 2",
            ),
            (
                |s| s.routing = candidates(ugal(LOCAL, GROUP, 1, ALL), 1, 0),
                "routing.other_candidates",
                "0 is not between 1 and 2",
            ),
            (
                |s| s.routing = candidates(par(GROUP, 1, ALL), 2, 3),
                "routing.other_candidates",
                "3 is not between 1 and 2",
            ),
            (
                |s| s.routing = candidates(par(GROUP, 1, ALL), 0, 2),
                "routing.minimal_candidates",
                "0 is not between 1 and 2",
            ),
            (
                |s| s.routing = weights(ugal(LOCAL, GROUP, 1, ALL), 1_000_000_001, 0),
                "routing.factor_milli",
                "1000000001 is more than 1000000000",
            ),
            (
                |s| s.routing = weights(ugal(LOCAL, GROUP, 1, ALL), 1, 1_000_000_001),
                "routing.bias_bytes",
                "1000000001 is more than 1000000000",
            ),
            (
                |s| s.routing = weights(par(GROUP, 1, ALL), u64::MAX, 0),
                "routing.factor_milli",
                "18446744073709551615 is more than 1000000000",
            ),
            (
                |s| s.jobs[1].routing = Some(weights(par(GROUP, 1, ALL), 1, 1_000_000_001)),
                "jobs[1].routing.bias_bytes",
                "1000000001 is more than 1000000000",
            ),
            (
                |s| s.routing = RoutingSpec::AdaptiveLocal { factor_milli: 1_000_000_001, gateways: ALL },
                "routing.factor_milli",
                "1000000001 is more than 1000000000",
            ),
            (|s| s.routing = biased(1_000_000_001, 0), "routing.bias_low_bytes", "1000000001 is more than 1000000000"),
            (
                |s| s.jobs[0].routing = Some(biased(0, 1_000_000_001)),
                "jobs[0].routing.bias_high_bytes",
                "1000000001 is more than 1000000000",
            ),
        ],
    );
    accepted(
        valid,
        &[
            |s| s.routing = weights(ugal(LOCAL, Via::Router, 2, ALL), 1_000_000_000, 1_000_000_000),
            |s| s.routing = weights(par(Via::Router, 2, ALL), 0, 0),
            |s| s.routing = biased(1_000_000_000, 1_000_000_000),
            |s| s.routing = RoutingSpec::AdaptiveLocal { factor_milli: 0, gateways: NEAREST },
        ],
    );
}

fn biased(bias_low_bytes: u64, bias_high_bytes: u64) -> RoutingSpec {
    RoutingSpec::Aries { mode: AriesMode::Adaptive1, bias_low_bytes, bias_high_bytes, gateways: ALL }
}

/// Catches a routing on a machine that it does not know, and options that have no meaning there.
#[test]
fn routings_of_other_machines() {
    let known = |machine: &'static str| {
        let of_machine = ROUTINGS.iter().filter(|info| info.machines.contains(&machine));
        of_machine.map(|info| info.name).collect::<Vec<_>>().join(", ")
    };
    let for_plus: &str =
        format!("this routing is not for a dragonfly or cascade, which knows {}", known("dragonfly")).leak();
    let no_spines = "a dragonfly or cascade has no spines and leaves: packets turn at a `group` or a `router`";
    let which = "on this kind of machine it must be said which cables count as shortest: `nearest` or `all`";
    refused(
        valid,
        &[
            (|s| s.routing = fpar(1_000, FparCandidates::AllGroups), "routing.name", for_plus),
            (|s| s.jobs[1].routing = Some(prog_adaptive(FparCandidates::OneGroup)), "jobs[1].routing.name", for_plus),
            (|s| s.routing = valiant(Via::Spine, Select::Random, ALL), "routing.via", no_spines),
            (|s| s.routing = ugal(LOCAL, Via::Leaf, 1, ALL), "routing.via", no_spines),
            (|s| s.jobs[0].routing = Some(par(Via::Spine, 1, ALL)), "jobs[0].routing.via", no_spines),
            (|s| s.routing = crate::support::MINIMAL, "routing.gateways", which),
            (
                |s| {
                    let (via, select) = (GROUP, Select::Hash);
                    s.jobs[1].routing = Some(RoutingSpec::Valiant { via, select, gateways: None });
                },
                "jobs[1].routing.gateways",
                which,
            ),
            (
                |s| s.jobs[1].routing = Some(minimal(Select::Random, NEAREST)),
                "jobs[1].routing.gateways",
                "all routings of a run must agree on the `gateways`",
            ),
        ],
    );
    let knows: &str =
        format!("this routing is not for a dragonfly-plus, which knows {}", known("dragonfly-plus")).leak();
    let no_choice = "a dragonfly-plus has no choice of gateways";
    refused(
        plus,
        &[
            (|s| s.routing = ugal(LOCAL, GROUP, 1, ALL), "routing.name", knows),
            (|s| s.routing = par(GROUP, 1, ALL), "routing.name", knows),
            (|s| s.routing = adaptive_local(ALL), "routing.name", knows),
            (|s| s.jobs[1].routing = Some(aries(AriesMode::MinHash, ALL)), "jobs[1].routing.name", knows),
            (|s| s.routing = minimal(Select::Random, ALL), "routing.gateways", no_choice),
            (|s| s.routing = valiant(GROUP, Select::Random, NEAREST), "routing.gateways", no_choice),
            (
                |s| s.routing = crate::support::valiant(Via::Router),
                "routing.via",
                "a dragonfly-plus turns at a `spine` or a `leaf`",
            ),
        ],
    );
}
