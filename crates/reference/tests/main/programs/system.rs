//! The system of these tests: times that add up in the head.
//!
//! Two routers with two nodes each, 0 and 1, 2 and 3. Every link takes 1 ns for a byte. The wire to a node takes 1 ns,
//! that between the routers 2 ns, a decision 3 ns. Packets have 1,000 bytes; buffers hold everything.

use odonata_error::{Error, ErrorKind};
use odonata_sim::{Output, Spec};

/// What it takes to send, receive, and go from rank to rank of a node.
pub const SEND: u64 = 100;
pub const RECEIVE: u64 = 70;
pub const MEMORY: u64 = 40;
/// Largest eager message; copying takes 1 ps a byte.
pub const EAGER: u64 = 100;
/// Size of RTS and CTS messages.
pub const CONTROL: u64 = 8;
/// How long a run goes on after the last rank.
pub const SETTLE: u64 = 1_000_000;

/// Time of a message of at most one packet between the nodes of a router.
pub fn hop(bytes: u64) -> u64 {
    2 * 1000 * bytes + 2 * 1000 + 3000
}

/// Time of a message of at most one packet from router to router.
pub fn two_hops(bytes: u64) -> u64 {
    3 * 1000 * bytes + 2 * 1000 + 2000 + 2 * 3000
}

/// A job in JSON: on these nodes, running this body.
pub struct Job {
    pub nodes: Vec<u32>,
    pub body: String,
    pub start: u64,
    pub iterations: Option<u64>,
    pub gap: u64,
}

/// A job that runs a trace once.
pub fn trace(nodes: &[u32], ranks: &[&str]) -> Job {
    let blocks: Vec<String> = ranks
        .iter()
        .enumerate()
        .map(|(rank, lines)| format!("rank {rank} {{\n{}\n}}\n", lines.replace("; ", "\n")))
        .collect();
    let goal = format!("num_ranks {}\n{}", ranks.len(), blocks.concat()).replace('\n', "\\n");
    let body = format!(r#"{{"name":"trace","goal":"{goal}"}}"#);
    Job { nodes: nodes.to_vec(), body, start: 0, iterations: Some(1), gap: 0 }
}

/// A job that runs phases once; each in JSON.
pub fn phases(nodes: &[u32], whats: &[&str]) -> Job {
    let phases: Vec<String> = whats.iter().map(|what| format!(r#"{{"what":{what}}}"#)).collect();
    let body = format!(r#"{{"name":"phases","phases":[{}]}}"#, phases.join(","));
    Job { nodes: nodes.to_vec(), body, start: 0, iterations: Some(1), gap: 0 }
}

/// A run of jobs; it ends when all that end have ended.
pub fn spec(jobs: &[Job]) -> Spec {
    let number = |n: Option<u64>| n.map_or("null".into(), |n| n.to_string());
    let link = |latency| {
        format!(r#"{{"bandwidth":1000000000000000,"latency_ps":{latency},"buffer_bytes":1000000,"credit_delay_ps":0}}"#)
    };
    let job = |(index, job): (usize, &Job)| {
        let Job { nodes, body, start, iterations, gap } = job;
        format!(
            r#"{{"name":"job-{index}","nodes":{nodes:?},"record":"every-message","program":{{"start_ps":{start},
            "iterations":{},"gap_ps":{gap},"costs":{{"send_ps":{SEND},"receive_ps":{RECEIVE},"copy":1000000000000000000,
            "memory_ps":{MEMORY},"eager_bytes":{EAGER},"control_bytes":{CONTROL}}},"body":{body}}}}}"#,
            number(*iterations)
        )
    };
    let all: Vec<String> = jobs.iter().enumerate().map(job).collect();
    let awaited: Vec<usize> = (0..jobs.len()).filter(|&j| jobs[j].iterations.is_some()).collect();
    let text = format!(
        r#"{{"version":1,"seed":5,"compat":null,
        "topology":{{"kind":"dragonfly","groups":1,"routers":2,"nodes_per_router":2,"global_links_per_router":0,
            "arrangement":"absolute"}},
        "fabric":{{"packet_bytes":1000,"router_delay_ps":3000,"channels":2,"nic":{{"overhead_ps":0,"order":"fcfs"}},
            "links":{{"node":{},"local":{},"global":{}}}}},
        "routing":{{"name":"minimal","select":"random","gateways":"all"}},"jobs":[{}],
        "stop":{{"jobs":{awaited:?},"at_ps":null}},
        "measure":{{"from_ps":0,"until_ps":null,"arrivals_every_ps":null}}}}"#,
        link(1000),
        link(2000),
        link(2000),
        all.join(",")
    );
    Spec::from_json(&text).unwrap_or_else(|e| panic!("{e}: {text}"))
}

/// What a run gives; the two simulators agree.
pub fn run(spec: &Spec) -> Result<Output, Error> {
    let output = odonata_reference::run(spec, &mut ());
    let sim = odonata_sim::run(spec, &mut ()).map(|(output, _)| output);
    let kinds = (output.as_ref().map_err(|e| &e.kind), sim.as_ref().map_err(|e| &e.kind));
    match kinds {
        (
            Err(ErrorKind::DeadlockedProgram { job, ranks, .. }),
            Err(ErrorKind::DeadlockedProgram { job: j, ranks: r, .. }),
        ) => {
            assert_eq!((job, ranks), (j, r));
        }
        _ => assert_eq!(sim, output, "{}", spec.to_json()),
    }
    output
}

/// The run of one job. It must end when its last rank has finished and what follows has come to rest.
pub fn run_job(job: Job) -> Output {
    let output = run(&spec(&[job])).expect("it runs");
    assert_eq!(output.end_ps, output.ranks.finish_ps.iter().max().expect("there are ranks") + SETTLE);
    output
}
