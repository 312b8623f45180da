//! A caller that issues messages one by one (`drive`).

use std::collections::HashMap;

use odonata_sim::output::NOT_DELIVERED;
use odonata_sim::spec::{Pattern, Record};
use odonata_sim::{Happening, Network, Output, Spec, drive, run};
use odonata_testkit as generator;

use crate::support::{MINIMAL, job, machine, ser, spec, stream};

/// A message: when it is issued, the ranks, and its size.
type Sent = (u64, u32, u32, u64);
/// Makes a specification from a seed.
type Maker = fn(u64) -> Spec;

/// Drives job `job`; returns what `caller` returns.
fn driven<T>(spec: &Spec, job: u32, caller: impl Fn(&mut dyn Network) -> T) -> T {
    let mut result = None;
    drive(spec, job, &mut |network| result = Some(caller(network)))
        .unwrap_or_else(|e| panic!("{e}\nspec: {}", spec.to_json()));
    result.expect("the caller was called")
}

/// All happenings until none is left.
fn rest(network: &mut dyn Network) -> Vec<Happening> {
    std::iter::from_fn(|| network.advance().expect("it goes on")).collect()
}

/// When messages that are all known at the beginning are delivered, up to a time.
fn known(network: &mut dyn Network, sent: &[Sent], end: u64) -> Vec<Option<u64>> {
    for &(at, from, to, bytes) in sent {
        network.send(at, from, to, bytes).expect("it can be sent");
    }
    network.schedule(end + 1).expect("it lies ahead");
    let mut times = vec![None; sent.len()];
    while let Some(Happening::Delivery { at_ps, number }) = network.advance().expect("it goes on") {
        times[number as usize] = Some(at_ps).filter(|&at| at <= end);
    }
    times
}

/// The same if each message is sent only when its time has come.
fn one_by_one(network: &mut dyn Network, sent: &[Sent], end: u64) -> Vec<Option<u64>> {
    for &(at, ..) in sent {
        network.schedule(at).expect("it lies ahead");
    }
    network.schedule(end + 1).expect("it lies ahead");
    let mut times = vec![None; sent.len()];
    let mut message_of = HashMap::new();
    while network.now_ps() <= end {
        match network.advance().expect("it goes on").expect("the last timer is left") {
            Happening::Timer { at_ps, number } => {
                assert_eq!(network.now_ps(), at_ps);
                if let Some(&(at, from, to, bytes)) = sent.get(number as usize) {
                    assert_eq!(at, at_ps);
                    message_of.insert(network.send(at, from, to, bytes).expect("it can be sent"), number);
                }
            }
            Happening::Delivery { at_ps, number } => times[message_of[&number] as usize] = Some(at_ps),
        }
    }
    times.iter_mut().for_each(|time| *time = time.filter(|&at| at <= end));
    times
}

/// Compares the messages of the first job with traffic in specifications of a kind with the same messages of a caller,
/// beside the other jobs. Returns how many deliveries were compared.
fn compare(count: u64, of: Maker) -> usize {
    let mut compared = 0;
    for seed in 0..count {
        let mut spec = of(seed);
        let Some(job) = spec.jobs.iter().position(|job| job.traffic.is_some()) else { continue };
        let bytes = spec.jobs[job].traffic.as_ref().expect("it has traffic").message_bytes;
        spec.jobs[job].record = Record::EveryMessage;
        let Ok((Output { messages: rows, end_ps, .. }, _)) = run(&spec, &mut ()) else { continue }; // a deadlocked program
        let own: Vec<usize> = (0..rows.job.len()).filter(|&row| usize::from(rows.job[row]) == job).collect();
        let sent: Vec<Sent> =
            own.iter().map(|&row| (rows.issue_ps[row], rows.source[row], rows.destination[row], bytes)).collect();
        let delivered = |row: usize| (rows.latency_ps[row] != NOT_DELIVERED).then_some(rows.latency_ps[row]);
        let by_end = |row: usize| Some(rows.issue_ps[row] + delivered(row)?).filter(|&at| at <= end_ps);
        let expected: Vec<Option<u64>> = own.iter().map(|&row| by_end(row)).collect();
        for caller in [known, one_by_one] {
            let found = driven(&spec, job as u32, |network| caller(network, &sent, end_ps));
            let other = (0..sent.len())
                .find(|&message| found[message] != expected[message])
                .map(|message| format!("{:?} at {:?}, not {:?}", sent[message], found[message], expected[message]));
            assert_eq!(other, None, "seed {seed}, spec: {}", spec.to_json());
        }
        compared += expected.iter().flatten().count();
    }
    assert!(compared > 0);
    compared
}

/// Catches messages of a caller that get other keys, another order or another time than those of patterns, and state that
/// an earlier happening lets the network see too soon.
#[test]
fn messages_arrive_as_those_of_a_pattern_do() {
    let kinds: [(u64, Maker); 12] = [
        (60, generator::spec),
        (60, generator::instant_spec),
        (40, generator::odd_spec),
        (40, generator::direct_spec),
        (40, generator::instant_direct_spec),
        (30, generator::instant_global_spec),
        (40, generator::tree_spec),
        (40, generator::hyperx_spec),
        (40, generator::windowed_spec),
        (40, generator::congested_spec),
        (40, generator::classed_spec),
        (40, generator::answered_spec),
    ];
    let compared: usize = kinds.into_iter().map(|(count, of)| compare(count, of)).sum();
    assert!(compared > 20_000, "only {compared} messages");
}

/// Catches NICs of one node that a caller's messages use differently.
#[test]
fn striped_messages_arrive_as_those_of_a_pattern_do() {
    compare(40, generator::striped_spec);
}

/// Two nodes of a leaf, and a job that sends without end beside them.
fn pair() -> Spec {
    let mut endless = job("endless", vec![2, 3], Pattern::UniformRandom {}, 500, 1_000_000, 1);
    endless.traffic.as_mut().expect("it has traffic").intervals = None;
    let mut spec = spec(machine([2, 2, 2, 2, 1], None), MINIMAL, vec![stream(0, 1, 1), endless]);
    spec.stop.jobs = vec![0];
    spec
}

/// 1,000 bytes take 100 ns on each of two links, and the router takes 100 ns.
const WAY: u64 = 300_000;

#[test]
fn a_lone_message_takes_the_time_of_its_links() {
    assert_eq!(WAY, 2 * ser(1_000, 10) + 100_000);
    let happenings = driven(&pair(), 0, |network| {
        assert_eq!((network.now_ps(), network.ranks()), (0, 2));
        network.send(5, 0, 1, 1_000).expect("it can be sent");
        rest(network)
    });
    assert_eq!(happenings, [Happening::Delivery { at_ps: WAY + 5, number: 0 }]);
}

/// Catches an order that depends on the order of the calls, or on a heap.
#[test]
fn deliveries_come_before_timers_of_their_time_and_both_in_the_order_of_their_numbers() {
    let happenings = driven(&pair(), 0, |network| {
        for _ in 0..3 {
            network.schedule(WAY).expect("it lies ahead");
        }
        network.send(0, 0, 1, 1_000).expect("it can be sent");
        network.send(0, 1, 0, 1_000).expect("it can be sent");
        rest(network)
    });
    let delivery = |number| Happening::Delivery { at_ps: WAY, number };
    let timer = |number| Happening::Timer { at_ps: WAY, number };
    assert_eq!(happenings, [delivery(3), delivery(4), timer(0), timer(1), timer(2)]);
}

/// Catches a network that goes on with other jobs for ever, or cannot be used after a pause.
#[test]
fn nothing_is_left_when_the_callers_messages_and_timers_are_over() {
    driven(&pair(), 0, |network| {
        assert_eq!(network.advance(), Ok(None));
        for round in 0..2 {
            network.send(round * 10 * WAY, 0, 1, 1_000).expect("it can be sent");
            assert_eq!(rest(network).len(), 1);
            assert_eq!(network.now_ps(), round * 10 * WAY + WAY);
        }
    });
}

#[test]
fn what_cannot_be_sent_is_refused() {
    let errors = driven(&pair(), 0, |network| {
        network.schedule(100).expect("it lies ahead");
        network.advance().expect("it goes on");
        let mut errors: Vec<String> = [(99, 0, 1, 5), (100, 2, 1, 5), (100, 0, 7, 5), (100, 1, 1, 5), (100, 0, 1, 0)]
            .map(|(at, from, to, bytes)| network.send(at, from, to, bytes).expect_err("it is refused").to_string())
            .to_vec();
        errors.push(network.schedule(1 << 63).expect_err("it is refused").to_string());
        assert_eq!(network.advance(), Ok(None), "what is refused leaves nothing behind");
        errors
    });
    let expected = [
        "at_ps: out-of-range (found = 99, least = 100, most = 9223372036854775807)",
        "from: no-such-rank (rank = 2, ranks = 2)",
        "to: no-such-rank (rank = 7, ranks = 2)",
        "to: same-node (node = 1)",
        "bytes: out-of-range (found = 0, least = 1, most = 1099511627776)",
        "at_ps: out-of-range (found = 9223372036854775808, least = 100, most = 9223372036854775807)",
    ];
    assert_eq!(errors, expected);
    let error = drive(&pair(), 2, &mut |_| panic!("there is no such job")).expect_err("it is refused");
    assert_eq!(error.to_string(), "no-such-job (job = 2)");
}
