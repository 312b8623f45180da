//! Algorithm 1 as a table of states and transitions, and the threshold before it.

use odonata_decision::{Counters, Kind, Message, Mode, Policy, Settings};

const ADAPTIVE: Mode = Mode::Adaptive;
const HIGH: Mode = Mode::HighBias;

/// Counters of a message with latency L and stalls s.
fn counters(latency: u64, stalls: u64) -> Counters {
    Counters { request_flits: 10, stalled_cycles: 10 * stalls, request_packets: 2, latency_cycles: 2 * latency }
}

fn policy(kind: Kind) -> Policy {
    Policy::new(kind, &Settings::default()).expect("the defaults are in range")
}

/// One message above the threshold.
fn send(policy: &mut Policy, bytes: u64) -> Mode {
    let decision = policy.select(Message::put(bytes));
    assert!(decision.observe, "{bytes} bytes are below the threshold");
    decision.mode
}

/// The latency and stalls of an observation.
type Seen = Option<(u64, u64)>;

/// Brings a new policy into a state: `adaptive` and `high` are the last observations.
fn state(current: Mode, adaptive: Seen, high: Seen) -> Policy {
    let mut policy = policy(Kind::AppAwareContinuous);
    if current == HIGH {
        // A latency without stalls: high bias is estimated to save a fifth of it.
        policy.observe(ADAPTIVE, counters(1000, 0));
        assert_eq!(send(&mut policy, 5000), HIGH);
    }
    for (mode, seen) in [(ADAPTIVE, adaptive), (HIGH, high)] {
        if let Some((latency, stalls)) = seen {
            policy.observe(mode, counters(latency, stalls));
        }
    }
    policy
}

/// 8 KiB have p = 128 and f = 640: T = 0.625 L + 640 (s + 1).
const SIZE: u64 = 8192;

#[test]
fn every_transition() {
    #[rustfmt::skip]
    let table: &[(&str, Mode, Seen, Seen, Mode)] = &[
        // what                                                current   adaptive         high bias        next
        ("nothing is known",                                   ADAPTIVE, None,            None,            ADAPTIVE),
        ("the current mode is unknown",                        ADAPTIVE, None,            Some((1, 0)),    ADAPTIVE),
        ("estimate: 0.2 L saves 125, 0.3 s costs 0",           ADAPTIVE, Some((1000, 0)), None,            HIGH),
        ("estimate: 0.2 L saves 125, 0.3 s costs 192",         ADAPTIVE, Some((1000, 1)), None,            ADAPTIVE),
        ("observed: high bias takes less time",                ADAPTIVE, Some((1000, 1)), Some((900, 1)),  HIGH),
        ("observed: the same time",                            ADAPTIVE, Some((1000, 1)), Some((1000, 1)), ADAPTIVE),
        ("observed: high bias takes more time",                ADAPTIVE, Some((1000, 1)), Some((900, 2)),  ADAPTIVE),
        ("better in both, where equation 4 says no",           ADAPTIVE, Some((1000, 2)), Some((900, 1)),  HIGH),
        ("observed: high bias takes less time",                HIGH,     Some((1000, 1)), Some((900, 1)),  HIGH),
        ("observed: the same time",                            HIGH,     Some((1000, 1)), Some((1000, 1)), HIGH),
        ("observed: high bias takes more time",                HIGH,     Some((1000, 1)), Some((900, 2)),  ADAPTIVE),
    ];
    for (what, current, adaptive, high, next) in table {
        let mut policy = state(*current, *adaptive, *high);
        assert_eq!(send(&mut policy, SIZE), *next, "{what}, from {}", current.name());
    }
}

#[test]
fn the_dual_estimates_the_default_by_the_inverse_factors() {
    // From high bias with L = 800 and s = 13, the default is estimated at L = 1000 and s = 10: it saves 1920 - 125.
    let mut policy =
        Policy::new(Kind::AppAwareContinuous, &Settings { sample_age: 2, ..Settings::default() }).expect("valid");
    policy.observe(ADAPTIVE, counters(1000, 0));
    assert_eq!(send(&mut policy, SIZE), HIGH);
    for _ in 0..3 {
        policy.observe(HIGH, counters(800, 0));
        assert_eq!(send(&mut policy, SIZE), HIGH, "without stalls high bias is better");
    }
    policy.observe(HIGH, counters(800, 13));
    assert_eq!(send(&mut policy, SIZE), ADAPTIVE, "the default's observation is too old; its estimate is better");
}

#[test]
fn an_observation_is_used_up_to_its_age() {
    for (age, expected) in [(64, ADAPTIVE), (63, HIGH)] {
        let settings = Settings { sample_age: age, ..Settings::default() };
        let mut policy = Policy::new(Kind::AppAwareContinuous, &settings).expect("valid");
        policy.observe(HIGH, counters(900, 2));
        for decision in 1..64 {
            policy.observe(ADAPTIVE, counters(1000, 1));
            assert_eq!(send(&mut policy, SIZE), ADAPTIVE, "decision {decision}");
        }
        // The estimate now says high bias; the observation says default.
        policy.observe(ADAPTIVE, counters(1000, 0));
        assert_eq!(send(&mut policy, SIZE), expected, "age {age}");
    }
}

#[test]
fn lambda_and_sigma_are_learned_from_neighbouring_observations() {
    let mut policy = policy(Kind::AppAwareContinuous);
    for _ in 0..8 {
        policy.observe(ADAPTIVE, counters(1000, 2));
        policy.observe(HIGH, counters(500, 6));
    }
    assert_eq!(policy.factors(), Some((0.5, 3.0)));
}

#[test]
fn repeated_observations_of_one_mode_teach_nothing() {
    let mut policy = policy(Kind::AppAwareContinuous);
    policy.observe(HIGH, counters(500, 6));
    for _ in 0..50 {
        policy.observe(ADAPTIVE, counters(1000, 2));
    }
    assert_eq!(policy.factors(), Some((0.8, 1.3)), "one pair is no median");
}

#[test]
fn small_messages_add_up_to_the_threshold_and_the_counter_starts_again() {
    for kind in [Kind::AppAwareContinuous, Kind::AppAwareHysteresis, Kind::Bandit] {
        let mut policy = policy(kind);
        let asked: Vec<_> = (0..10).map(|_| policy.select(Message::put(1024))).collect();
        for (i, decision) in asked.iter().enumerate() {
            // 4 KiB is not more than 4 KiB: the fifth and the tenth message decide.
            assert_eq!(decision.observe, i % 5 == 4, "{} message {i}", kind.name());
            assert_eq!(decision.mode, if i % 5 == 4 { ADAPTIVE } else { HIGH }, "{} message {i}", kind.name());
        }
        assert!(!policy.select(Message::put(4096)).observe, "exactly the threshold");
        assert!(policy.select(Message::put(1)).observe);
        assert!(policy.select(Message::put(u64::MAX)).observe);
        assert!(!policy.select(Message::put(0)).observe);
    }
}

#[test]
fn messages_below_the_threshold_do_not_change_the_state() {
    let mut policy = state(ADAPTIVE, Some((1000, 1)), Some((900, 2)));
    assert_eq!(policy.select(Message::put(100)).mode, HIGH);
    assert_eq!(send(&mut policy, SIZE), ADAPTIVE);
}

#[test]
fn an_all_to_all_uses_adaptive_1_in_place_of_adaptive_0() {
    let message = Message { alltoall: true, ..Message::put(SIZE) };
    for kind in Kind::ALL {
        let mut policy = policy(kind);
        let expected = if kind == Kind::HighBias { HIGH } else { Mode::IncreasinglyMinimal };
        assert_eq!(policy.select(message).mode, expected, "{}", kind.name());
    }
    // What is observed under ADAPTIVE_1 stands for the default.
    let mut policy = policy(Kind::AppAwareContinuous);
    policy.select(message);
    policy.observe(Mode::IncreasinglyMinimal, counters(1000, 0));
    assert_eq!(policy.select(message).mode, HIGH);
}

#[test]
fn fixed_policies_are_fixed_and_read_no_counters() {
    for (kind, mode) in [(Kind::Default, ADAPTIVE), (Kind::HighBias, HIGH)] {
        let mut policy = policy(kind);
        for bytes in [0, 100, 1 << 20] {
            let decision = policy.select(Message::put(bytes));
            assert_eq!((decision.mode, decision.observe), (mode, false));
            policy.observe(mode, counters(1, 1));
        }
    }
}

#[test]
fn counters_without_packets_change_nothing() {
    for kind in Kind::ALL {
        let (mut policy, mut same) = (policy(kind), policy(kind));
        for i in 0..50 {
            assert_eq!(policy.select(Message::put(SIZE)), same.select(Message::put(SIZE)), "{}", kind.name());
            let mode = if i % 2 == 0 { ADAPTIVE } else { HIGH };
            for policy in [&mut policy, &mut same] {
                policy.observe(mode, counters(1000 + i, i));
            }
            policy.observe(HIGH, Counters { latency_cycles: u64::MAX, ..Counters::default() });
        }
    }
}

#[test]
fn extreme_counters_never_panic() {
    let extremes = [0, 1, u64::MAX];
    for kind in Kind::ALL {
        let mut policy = policy(kind);
        for i in 0..200_usize {
            let of = |k: usize| extremes[(i / 3_usize.pow(k as u32)) % 3];
            let counters =
                Counters { request_flits: of(0), stalled_cycles: of(1), request_packets: of(2), latency_cycles: of(3) };
            let mode = policy.select(Message::put(extremes[i % 3])).mode;
            policy.observe(mode, counters);
        }
    }
}

#[test]
fn settings_out_of_range_are_refused_by_name() {
    let fine = Settings::default();
    for (wrong, name) in [
        (Settings { sample_age: 0, ..fine }, "sample_age"),
        (Settings { lambda: 0.0, ..fine }, "lambda"),
        (Settings { sigma: f64::NAN, ..fine }, "sigma"),
        (Settings { margin: 1.0, ..fine }, "margin"),
    ] {
        assert_eq!(Policy::new(Kind::Bandit, &wrong).map(|_| ()).map_err(|(name, _)| name), Err(name));
    }
}

#[test]
fn policies_have_names() {
    for kind in Kind::ALL {
        assert_eq!(Kind::named(kind.name()), Some(kind));
    }
    assert_eq!(Kind::named("App-Aware"), None);
}
