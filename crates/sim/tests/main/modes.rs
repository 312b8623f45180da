//! Application-aware routing: the mode of each message (docs/model.md, section 6, "application-aware").

use odonata_decision::Mode;
use odonata_error::{ErrorKind, path};
use odonata_sim::Output;
use odonata_sim::output::SentInMode;
use odonata_sim::spec::{
    Body, JobSpec, ModePolicy, Phase, PhaseAction, ProgramSpec, Record, RoutingSpec, Spec, StopSpec,
};
use odonata_testkit as generator;

/// The specification with another policy in its application-aware jobs.
fn with_policy(mut spec: Spec, other: ModePolicy) -> Spec {
    let jobs = spec.jobs.iter_mut().filter_map(|job| job.routing.as_mut());
    for routing in jobs.chain([&mut spec.routing]) {
        if let RoutingSpec::ApplicationAware { policy, then, .. } = routing {
            *policy = other;
            then.clear();
        }
    }
    spec
}

/// The specification with a mode in place of application-aware routing.
fn with_mode(mut spec: Spec, mode: Mode) -> Spec {
    let jobs = spec.jobs.iter_mut().filter_map(|job| job.routing.as_mut());
    for routing in jobs.chain([&mut spec.routing]) {
        *routing = routing.of_packets(mode);
    }
    spec
}

fn aware(spec: &Spec, job: &JobSpec) -> bool {
    matches!(spec.routing_of(job), RoutingSpec::ApplicationAware { .. })
}

fn has_alltoall(job: &JobSpec) -> bool {
    let Some(ProgramSpec { body: Body::Phases { phases, .. }, .. }) = &job.program else { return false };
    phases
        .iter()
        .any(|Phase { what, .. }| matches!(what, PhaseAction::Alltoall { .. } | PhaseAction::PxnAlltoall { .. }))
}

fn ran(spec: &Spec) -> Option<Output> {
    odonata_sim::run(spec, &mut ()).ok().map(|(output, _)| output)
}

/// Catches a message whose packets, or whose responses, are not routed in its mode.
#[test]
fn a_policy_that_never_changes_is_the_mode_itself() {
    let mut compared = [0; 2];
    for seed in 0..80 {
        let spec = generator::application_aware_spec(seed);
        let alltoall = spec.jobs.iter().any(|job| aware(&spec, job) && has_alltoall(job));
        for (number, (policy, mode)) in
            [(ModePolicy::HighBias, Mode::HighBias), (ModePolicy::Default, Mode::Adaptive)].into_iter().enumerate()
        {
            if alltoall && mode == Mode::Adaptive {
                continue;
            }
            let (Some(mut by_policy), Some(by_mode)) =
                (ran(&with_policy(spec.clone(), policy)), ran(&with_mode(spec.clone(), mode)))
            else {
                continue;
            };
            for (job, totals) in spec.jobs.iter().zip(&mut by_policy.jobs) {
                let sent = std::mem::take(&mut totals.modes);
                let others = (0..sent.len()).filter(|&other| other != mode.position());
                assert!(others.into_iter().all(|other| sent[other] == SentInMode::default()), "seed {seed}");
                let all = if aware(&spec, job) { totals.issued - totals.intra_node } else { 0 };
                assert!(sent[mode.position()].messages <= all, "seed {seed}");
                compared[number] += sent[mode.position()].messages;
            }
            assert!(by_policy == by_mode, "seed {seed}, {policy:?}");
        }
    }
    assert!(compared.iter().all(|&messages| messages > 3_000), "{compared:?}");
}

/// Catches an all-to-all that is sent like other messages, and other messages that are sent like it.
#[test]
fn the_default_of_an_all_to_all_is_adaptive_1() {
    let (mut both, mut checked) = (0, 0);
    for seed in 0..200 {
        let mut spec = with_policy(generator::application_aware_spec(seed), ModePolicy::Default);
        spec.stop = StopSpec { jobs: (0..spec.jobs.len() as u32).collect(), at_ps: None };
        if spec.jobs.iter().any(|job| job.is_endless()) {
            continue;
        }
        let Some(output) = ran(&spec) else { continue };
        for (job, totals) in spec.jobs.iter().zip(&output.jobs).filter(|(job, _)| aware(&spec, job)) {
            let [default, alltoall, high] = totals.modes.map(|sent| sent.messages);
            assert_eq!((default + alltoall, high), (totals.issued - totals.intra_node, 0), "seed {seed}");
            assert!(alltoall == 0 || has_alltoall(job), "seed {seed}");
            checked += u32::from(alltoall > 0);
            both += u32::from(alltoall > 0 && default > 0);
        }
    }
    assert!(checked >= 5 && both >= 2, "{checked} with an all-to-all, {both} with other messages too");
}

/// The specification with these policies in turn in its application-aware jobs, complete and with all rows.
fn in_turn(mut spec: Spec, policies: &[ModePolicy]) -> Option<Spec> {
    spec = with_policy(spec, policies[0]);
    let jobs = spec.jobs.iter_mut().filter_map(|job| job.routing.as_mut());
    for routing in jobs.chain([&mut spec.routing]) {
        if let RoutingSpec::ApplicationAware { then, .. } = routing {
            then.extend(&policies[1..]);
        }
    }
    spec.stop = StopSpec { jobs: (0..spec.jobs.len() as u32).collect(), at_ps: None };
    spec.jobs.iter_mut().for_each(|job| job.record = Record::EveryMessage);
    (!spec.jobs.iter().any(JobSpec::is_endless)).then_some(spec)
}

/// By job, the interval (the iteration) and the mode of each message that has been answered.
fn rows(output: &Output, job: usize) -> Vec<(u32, Mode)> {
    let messages = &output.messages;
    let all = messages.job.iter().zip(&messages.interval).zip(&output.message_counters);
    all.filter(|((of, _), _)| usize::from(**of) == job)
        .filter_map(|((_, interval), counters)| Some((*interval, counters.mode?)))
        .collect()
}

/// Catches a turn that is not that of the message's own iteration.
#[test]
fn iterations_take_the_policies_in_turn() {
    let (mut jobs, mut programs, mut intervals) = (0, 0, 0);
    for seed in 0..200 {
        let turns = [ModePolicy::HighBias, ModePolicy::Default, ModePolicy::Default];
        let Some(spec) = in_turn(generator::application_aware_spec(seed), &turns) else { continue };
        let Some(output) = ran(&spec) else { continue };
        for (index, job) in spec.jobs.iter().enumerate().filter(|(_, job)| aware(&spec, job)) {
            let sent = rows(&output, index);
            for &(interval, mode) in &sent {
                assert_eq!(mode == Mode::HighBias, interval % 3 == 0, "seed {seed}, interval {interval}");
            }
            let several = sent.iter().any(|&(interval, _)| interval % 3 > 0);
            jobs += u32::from(several);
            programs += u32::from(several && job.program.is_some());
            intervals = intervals.max(sent.iter().map(|&(interval, _)| interval).max().unwrap_or(0));
        }
    }
    assert!(jobs >= 50 && programs >= 10 && intervals >= 6, "{jobs} jobs, {programs} programs, {intervals} intervals");
}

/// Catches counts that are not those of the messages.
#[test]
fn the_messages_of_each_mode_are_those_of_the_rows() {
    let mut changed = 0;
    for seed in 0..120 {
        let mut spec = generator::application_aware_spec(seed);
        spec.stop = StopSpec { jobs: (0..spec.jobs.len() as u32).collect(), at_ps: None };
        if spec.jobs.iter().any(|job| job.is_endless()) {
            continue;
        }
        spec.jobs.iter_mut().for_each(|job| job.record = Record::EveryMessage);
        let Some(output) = ran(&spec) else { continue };
        for (index, job) in spec.jobs.iter().enumerate() {
            let rows = output.messages.job.iter().zip(&output.message_counters);
            let modes: Vec<Mode> =
                rows.filter(|(of, _)| usize::from(**of) == index).filter_map(|(_, counters)| counters.mode).collect();
            let count = |mode: Mode| modes.iter().filter(|&&other| other == mode).count() as u64;
            let totals = &output.jobs[index];
            if aware(&spec, job) {
                // A program may end before the last responses have come.
                let sent = totals.modes.map(|sent| sent.messages);
                assert!(Mode::ALL.iter().all(|&mode| count(mode) <= sent[mode.position()]), "seed {seed}");
                assert!(job.program.is_some() || Mode::ALL.map(count) == sent, "seed {seed}");
                changed += u32::from(totals.modes[2].messages > 0 && totals.modes[2].messages < modes.len() as u64);
            } else {
                assert_eq!(totals.modes, [SentInMode::default(); 3]);
            }
        }
    }
    assert!(changed >= 15, "{changed} jobs used both sides");
}

/// Catches a run that would select modes without anything to observe.
#[test]
fn nics_that_count_nothing_are_refused() {
    let mut spec = generator::application_aware_spec(0);
    let own = spec.jobs.iter().position(|job| aware(&spec, job)).expect("one is");
    spec.fabric.nic.aries = None;
    let error = spec.check().expect_err("it has no counters");
    assert_eq!(error.kind, ErrorKind::ApplicationAwareWithoutCounters {});
    let at =
        if spec.jobs[own].routing.is_some() { path!["jobs", own, "routing", "name"] } else { path!["routing", "name"] };
    assert_eq!(error.path, at);
}
