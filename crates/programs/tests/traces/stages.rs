//! Graphs of stages as traces.

use odonata_error::ErrorKind;
use odonata_programs::trace::Trace;
use odonata_programs::{Body, Program};

/// Two stages of two ranks: an all-reduce in the first beside computing, then a message to the second.
const BODY: &str = r#"{"name":"stages","collectives":[{"combine_ps":101,"phases":[
    {"what":{"name":"compute","ps":5,"jitter_ps":0}},
    {"what":{"name":"allreduce","algorithm":"recursive-doubling","bytes":50}}]}],
  "stages":[
    [{"cpu":1,"after":[],"what":{"name":"compute","ps":7}},
     {"cpu":2,"after":[0],"what":{"name":"collective","number":0}},
     {"cpu":1,"after":[0],"what":{"name":"compute","ps":9}},
     {"cpu":3,"after":[1,2],"what":{"name":"send","stage":1,"tag":40,"bytes":8}}],
    [{"cpu":3,"after":[],"what":{"name":"receive","stage":0,"tag":40,"bytes":8}},
     {"cpu":1,"after":[0],"what":{"name":"compute","ps":11}},
     {"cpu":2,"after":[],"what":{"name":"collective","number":0}}]]}"#;

fn trace(body: &str, ranks: u32) -> Result<Trace, ErrorKind> {
    let body: Body = serde_json::from_str(body).expect("it is a body");
    match Program::new(&body, ranks).map_err(|error| error.kind)? {
        Program::Stages(staged) => staged.trace().map_err(|error| error.kind),
        Program::Trace(_) | Program::Phases(_) => unreachable!("it is of stages"),
    }
}

/// Catches a message to a wrong rank, a lost dependency, a wrong CPU or a wrong time.
#[test]
fn every_rank_of_a_stage_gets_its_graph() {
    let rank = |rank: u32, partner: u32, next: u32| {
        format!(
            "rank {rank} {{\na: calc 7ps cpu 1\nb: calc 5ps cpu 2\nb requires a\n\
             c: recv 50b from {partner} tag 0 cpu 2\nc requires b\nd: send 50b to {partner} tag 0 cpu 2\nd irequires c\n\
             e: calc 101ps cpu 2\ne requires c\ne requires d\nf: calc 9ps cpu 1\nf requires a\n\
             g: send 8b to {next} tag 1 cpu 3\ng requires e\ng requires f\n}}\n"
        )
    };
    let last = |rank: u32, partner: u32| {
        let from = rank - 2;
        format!(
            "rank {rank} {{\na: recv 8b from {from} tag 1 cpu 3\nb: calc 11ps cpu 1\nb requires a\nc: calc 5ps cpu 2\n\
             d: recv 50b from {partner} tag 0 cpu 2\nd requires c\ne: send 50b to {partner} tag 0 cpu 2\n\
             e irequires d\nf: calc 101ps cpu 2\nf requires d\nf requires e\n}}\n"
        )
    };
    let goal = format!("num_ranks 4\n{}{}{}{}", rank(0, 1, 2), rank(1, 0, 3), last(2, 3), last(3, 2));
    let (found, expected) = (trace(BODY, 4).expect("it is a program"), Trace::parse_goal(&goal).expect("it is GOAL"));
    assert_eq!(found.to_goal(), expected.to_goal());
}

/// Catches a group of one rank that loses what waits for it, whether the collective still has its call or nothing.
#[test]
fn a_collective_of_one_rank_passes_on_dependencies() {
    let call = r#"{"what":{"name":"compute","ps":5,"jitter_ps":0}},"#;
    for body in [BODY.to_owned(), BODY.replace(call, "")] {
        let trace = trace(&body, 2).expect("it is a program");
        let (first, second) = (trace.graph(0), trace.graph(1));
        assert_eq!((first.operations().len(), second.operations().len()), (4, 3));
        assert_eq!((0..4).map(|operation| first.waits_for(operation)).collect::<Vec<_>>(), [0, 1, 1, 2]);
    }
}

#[test]
fn what_is_no_program_is_refused() {
    let refused = |from: &str, to: &str, ranks: u32| {
        assert!(BODY.contains(from), "{from}");
        trace(&BODY.replacen(from, to, 1), ranks).expect_err("it is refused")
    };
    assert!(matches!(refused("stages", "stages", 3), ErrorKind::GridOfOtherSize { ranks: 3, .. }));
    let order = refused(r#""after":[1,2]"#, r#""after":[1,3]"#, 4);
    assert!(matches!(order, ErrorKind::StageOrder { node: 3, after: 3 }));
    let lonely = refused(r#""tag":40,"bytes":8"#, r#""tag":40,"bytes":9"#, 4);
    assert!(matches!(lonely, ErrorKind::StageMessage { operation: "send", from: 0, to: 1, tag: 40, bytes: 9 }));
    let receive = r#"{"cpu":3,"after":[],"what":{"name":"receive","stage":0,"tag":41,"bytes":8}},"#;
    let more = refused("[{\"cpu\":3,", &format!("[{receive}{{\"cpu\":3,"), 4);
    assert!(matches!(more, ErrorKind::StageMessage { operation: "receive", tag: 41, .. }));
    let stage = refused(r#""stage":1"#, r#""stage":2"#, 4);
    assert!(matches!(stage, ErrorKind::OutOfRange { found: 2, .. }));
    let unknown = refused(r#""number":0"#, r#""number":1"#, 4);
    assert!(matches!(unknown, ErrorKind::OutOfRange { found: 1, .. }));
    assert!(matches!(refused(r#""jitter_ps":0"#, r#""jitter_ps":1"#, 4), ErrorKind::RandomCompute {}));
}
