//! Programs with stages.

use super::system::{Job, RECEIVE, SEND, hop, run_job};

/// Rank 0 is stage 0 and rank 1 stage 1: computing beside a send of 20 B, and what waits for both.
#[test]
fn stages_compute_beside_messages() {
    let body = r#"{"name":"stages","collectives":[],"stages":[
        [{"cpu":3,"after":[],"what":{"name":"send","stage":1,"tag":0,"bytes":20}},
         {"cpu":1,"after":[],"what":{"name":"compute","ps":900000}}],
        [{"cpu":3,"after":[],"what":{"name":"receive","stage":0,"tag":0,"bytes":20}},
         {"cpu":1,"after":[],"what":{"name":"compute","ps":1000}},
         {"cpu":1,"after":[0,1],"what":{"name":"compute","ps":77}}]]}"#;
    let job = Job { nodes: vec![0, 1], body: body.into(), start: 0, iterations: Some(1), gap: 0 };
    let output = run_job(job);
    // Copying takes 1 ps a byte at both ends.
    let arrived = SEND + 20 + hop(20) + RECEIVE + 20;
    assert_eq!(output.ranks.finish_ps, [900_000, arrived + 77]);
}

/// Four ranks in two stages, with all-reduces and messages of several packets: both simulators agree (`run_job`).
#[test]
fn stages_with_collectives_are_the_same_in_both_simulators() {
    let body = r#"{"name":"stages","collectives":[{"combine_ps":500,"phases":[
            {"what":{"name":"allreduce","algorithm":"ring","bytes":2500}}]}],"stages":[
        [{"cpu":1,"after":[],"what":{"name":"compute","ps":3000}},
         {"cpu":2,"after":[0],"what":{"name":"collective","number":0}},
         {"cpu":3,"after":[1],"what":{"name":"send","stage":1,"tag":0,"bytes":3000}},
         {"cpu":2,"after":[0],"what":{"name":"collective","number":0}},
         {"cpu":3,"after":[],"what":{"name":"receive","stage":1,"tag":0,"bytes":50}}],
        [{"cpu":3,"after":[],"what":{"name":"receive","stage":0,"tag":0,"bytes":3000}},
         {"cpu":2,"after":[0],"what":{"name":"collective","number":0}},
         {"cpu":3,"after":[1],"what":{"name":"send","stage":0,"tag":0,"bytes":50}}]]}"#;
    for nodes in [vec![0, 1, 2, 3], vec![0, 0, 2, 3], vec![3, 1, 0, 2]] {
        let output = run_job(Job { nodes, body: body.into(), start: 10, iterations: Some(2), gap: 5 });
        assert_eq!(output.jobs[0].issued, 2 * (2 * 4 + 2 + 4 + 2), "two all-reduces, one, and a message each way");
    }
}
