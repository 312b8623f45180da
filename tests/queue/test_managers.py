"""Queues, nodes and past jobs of PBS, Flux and LSF. The forms follow the manuals that the modules name."""

import json
import os

import pytest
from tests.cluster.managers import FLUX, LOG, LSF, LSF_HOSTS, PBS, PBS_NODES, PBS_NODES_TEXT, PBS_TEXT, RESOURCES, text

from odonata.errors import InputError
from odonata.queue.accounting import read_runs
from odonata.queue.listing import Listing
from odonata.queue.snapshot import read_nodes, read_queue


def file(tmp_path, content):
    path = tmp_path / "listing"
    path.write_text(text(content), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("read", "content"),
    [
        (read_queue, "JOBID STATE NODELIST\n17 RUNNING n[1-2]\n"),
        (read_queue, text(FLUX)),
        (read_nodes, "NODELIST STATE\nn[1-2] idle\n"),
        (read_nodes, text(PBS_NODES)),
        (lambda path: read_runs(path).runs, LOG),
    ],
)
def test_a_pipe_is_read_once(read, content, tmp_path):
    """As `--queue <(squeue)` gives it: a second reader would find nothing."""
    expected = read(file(tmp_path, content))
    receiver, sender = os.pipe()
    with os.fdopen(sender, "w") as pipe:
        pipe.write(content)
    try:
        assert read(f"/dev/fd/{receiver}") == expected
    finally:
        os.close(receiver)


def test_jobs_of_pbs(tmp_path):
    jobs = {job.id: job for job in read_queue(file(tmp_path, PBS))}
    first = jobs["11.pbs-01"]
    assert first.running
    assert first.nodes == ("x1000c0s0b0n0", "x1000c0s1b0n0")
    assert (first.user, first.name, first.partition, first.account) == ("ana", "7", "prod", "physics")
    assert (first.wants, first.limit_s, first.left_s) == (2, 3600.0, 2400.0)
    assert [job.id for job in jobs.values() if job.running] == ["11.pbs-01"]
    assert (jobs["12.pbs-01"].wants, jobs["12.pbs-01"].nodes, jobs["12.pbs-01"].left_s) == (512, (), None)
    assert jobs["14.pbs-01"].nodes == ("n7",), "virtual nodes of one host are one node"


def test_a_list_where_another_is_expected(tmp_path):
    with pytest.raises(InputError, match="expected a list of nodes, found the output of `qstat -f -F json` of PBS"):
        read_nodes(file(tmp_path, PBS))
    with pytest.raises(InputError, match="expected jobs of the past, found the output of `flux jobs --json`"):
        read_runs(file(tmp_path, FLUX))
    with pytest.raises(InputError, match="is of one cluster"):
        read_queue(Listing(file(tmp_path, PBS), cluster="c1"))


def test_the_text_of_qstat_says_the_same(tmp_path):
    first, second = read_queue(file(tmp_path, PBS_TEXT))
    assert (first.id, first.nodes, first.left_s) == ("11.pbs-01", ("x1000c0s0b0n0", "x1000c0s1b0n0"), 2400.0)
    assert (first.name, first.running, second.running, second.wants) == ("a name = with signs", True, False, 512)


def test_nodes_of_pbs(tmp_path):
    nodes = {node.name: node for node in read_nodes(file(tmp_path, PBS_NODES))}
    assert [name for name, node in nodes.items() if node.idle] == ["n1"]
    assert [name for name, node in nodes.items() if node.drained] == ["n4"]
    assert list(nodes) == ["n1", "n2", "n3", "n4", "n5"], "virtual nodes of one host are one node"
    assert nodes["n1"].partitions == {"prod"}
    idle, down = read_nodes(file(tmp_path, PBS_NODES_TEXT))
    assert (idle.idle, down.drained, down.states) == (True, True, {"STATE_UNKNOWN", "DOWN"})


def test_the_accounting_log_of_pbs(tmp_path):
    first, second = read_runs(file(tmp_path, LOG)).runs
    assert (first.id, first.start, first.end, first.nodes) == ("11.pbs-01", 1000.0, 1600.0, ("n1", "n2"))
    assert (first.submit, first.limit_s, first.account, first.name) == (900.0, 1800.0, "my account", "a")
    assert (second.end, second.nodes, second.limit_s) == (None, ("n3",), 3600.0), "it still runs"


def test_jobs_and_resources_of_flux(tmp_path):
    first, second, third = read_queue(file(tmp_path, FLUX))
    assert (first.id, first.running, first.nodes) == ("4142", True, ("tuo1001", "tuo1002"))
    assert (first.user, first.partition, first.account) == ("ana", "pbatch", "physics")
    assert (first.limit_s, first.left_s) == (3600.0, 1200.5)
    assert (second.running, second.wants, second.limit_s, third.nodes) == (False, 4, None, ())
    assert [job.id for job in read_queue(file(tmp_path, FLUX["jobs"][0]))] == ["4142"], "one job alone"
    assert [node.name for node in read_nodes(file(tmp_path, RESOURCES))] == [
        f"tuo{number}" for number in range(1001, 1005)
    ]


def test_jobs_and_hosts_of_lsf(tmp_path):
    first, second, third, fourth = read_queue(file(tmp_path, LSF))
    assert (first.id, first.running, first.nodes) == ("101", True, ("a01n01", "a01n02"))
    assert (first.limit_s, first.left_s, first.name) == (7200.0, 5400.0, "cfd")
    assert (second.id, second.running, second.nodes) == ("102[3]", False, ())
    assert (third.running, fourth.running, fourth.states) == (False, False, {"NEWSTATE"})
    nodes = {node.name: node for node in read_nodes(file(tmp_path, LSF_HOSTS))}
    assert [name for name, node in nodes.items() if node.idle] == ["a01n04"]
    assert [name for name, node in nodes.items() if node.drained] == ["a01n06", "a01n07"]


def changed(data, where, value):
    copy = json.loads(json.dumps(data))
    place = copy
    for key in where[:-1]:
        place = place[key]
    if value is None:
        del place[where[-1]]
    else:
        place[where[-1]] = value
    return copy


FIRST = ("Jobs", "11.pbs-01")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (changed(PBS, (*FIRST, "job_state"), None), "job 11.pbs-01: expected its state, found `None`"),
        (changed(changed(PBS, (*FIRST, "exec_host"), None), (*FIRST, "exec_vnode"), None), "runs, and the file does"),
        (changed(PBS, (*FIRST, "exec_host"), "a/0++b/0"), "job 11.pbs-01: expected nodes such as"),
        (changed(PBS, (*FIRST, "exec_host"), {"a": 1}), "job 11.pbs-01: expected a list of nodes"),
        (changed(PBS, (*FIRST, "Resource_List", "walltime"), "soon"), "expected a time limit"),
        (changed(PBS, FIRST, 3), "Jobs.11.pbs-01: expected an object"),
        (PBS_TEXT.replace("    job_state = R\n", "  what is this\n"), "listing:5: expected an attribute"),
        (PBS_TEXT + PBS_TEXT, "`11.pbs-01` is listed twice"),
        (
            PBS_TEXT.replace("    queue = prod\n", "    queue = prod\n    job_state = Q\n", 1),
            ":7: `job_state` is there twice",
        ),
        (changed(PBS, (*FIRST, "Resource_List", "walltime"), -5), "expected a time limit such as 12:00:00, found `-5"),
        (
            changed(PBS, (*FIRST, "Resource_List", "walltime"), True),
            "expected a time limit such as 12:00:00, found `True",
        ),
        (text(PBS).replace('"queue": "prod"', '"queue": {', 1), "PBS may write values that are no JSON"),
        (changed(LSF, ("RECORDS", 0, "JOBID"), ""), "a job has no `JOBID`"),
        (
            changed(LSF, ("RECORDS",), [{"ERROR": "no such queue"}]),
            "LSF says in this file that it failed: no such queue",
        ),
        (changed(LSF, ("RECORDS",), [{"JOBID": "1", "STAT": "RUN", "EXEC_HOST": "a"}] * 2), "need `jobindex`"),
        (PBS_NODES, "expected a list of jobs, found the output of `pbsnodes -a -F json` of PBS"),
        (changed(FLUX, ("jobs", 0, "state"), None), "job 4142: expected its state"),
        (changed(FLUX, ("jobs", 0, "nodelist"), "tuo[1001"), "tuo"),
        (changed(FLUX, ("jobs", 0, "duration"), "1h"), "job 4142: expected `duration` in seconds"),
        (changed(FLUX, ("jobs", 0, "nodelist"), ""), "job 4142 runs, and the file does not say on which nodes"),
        (changed(LSF, ("RECORDS", 0, "EXEC_HOST"), None), "job 101 runs, and the file has no `EXEC_HOST`"),
        (changed(LSF, ("RECORDS", 0, "EXEC_HOST"), "42*"), "job 101: expected hosts such as"),
        (changed(LSF, ("RECORDS", 0, "TIME_LEFT"), "soon"), "job 101: expected `TIME_LEFT`"),
        (changed(LSF, ("RECORDS",), "none"), "expected a list of objects under `RECORDS`"),
        (LOG, "expected a list of jobs, found an accounting log of PBS"),
    ],
)
def test_what_is_wrong_is_named(content, message, tmp_path):
    """Catches a traceback, and a job that is left out in silence."""
    with pytest.raises(InputError, match="(?s)" + message):
        read_queue(file(tmp_path, content))


def test_a_log_that_is_cut(tmp_path):
    with pytest.raises(InputError, match="listing:2: expected `start` in seconds since 1970"):
        read_runs(file(tmp_path, LOG.replace("start=1000 exec_host=n1/0*4+n2/0*4\n", "start=never\n")))
    with pytest.raises(InputError, match="listing:6: expected a record such as"):
        read_runs(file(tmp_path, LOG.rstrip() + "\n11/16"))


def test_values_of_pbs_that_are_no_json(tmp_path):
    """What users put into names and variables, as `qstat -F json` writes it."""
    content = text(PBS).replace('"/home/ana"', '"C:\\\\dir \\\\x \\\\;"').replace('"Job_Name": 7', '"Job_Name": 005')
    content = content.replace("C:\\\\dir", "C:\\dir\x1b")
    first = read_queue(file(tmp_path, content))[0]
    assert (first.id, first.name, first.running) == ("11.pbs-01", "005", True)
    function = "    Submit_arguments = BASH_FUNC_module%%=() {  eval `modulecmd bash $*`\n}\n    job_state = R\n"
    assert [
        job.running for job in read_queue(file(tmp_path, PBS_TEXT.replace("    job_state = R\n", function, 1)))
    ] == [
        True,
        False,
    ]


def test_an_empty_queue_of_pbs(tmp_path):
    assert read_queue(file(tmp_path, {"timestamp": 1, "pbs_version": "2022.1.1", "pbs_server": "pbs-01"})) == []


def test_jobs_that_have_ended_hold_no_nodes(tmp_path):
    for state in ("F", "X"):
        ended = read_queue(file(tmp_path, changed(PBS, (*FIRST, "job_state"), state)))[0]
        assert (ended.running, ended.nodes, ended.wants) == (False, (), 2)
    assert read_queue(file(tmp_path, changed(LSF, ("RECORDS", 0, "STAT"), "DONE")))[0].nodes == ()


def test_a_job_that_is_queued_again_runs_twice(tmp_path):
    """The record `R` ends the first run, and so does another start without any record in between."""
    rows = [
        "11/16/2016 06:00:00;S;1.s;start=1000 exec_host=n1/0",
        "11/16/2016 06:01:00;R;1.s;start=1000 exec_host=n1/0 end=1100",
        "11/16/2016 06:02:00;a;1.s;Resource_List.walltime=00:10:00",
        "11/16/2016 06:03:00;S;1.s;start=2000 exec_host=n2/0",
        "11/16/2016 06:04:00;S;1.s;start=3000 exec_host=n2/0",
        "11/16/2016 06:05:00;E;1.s;start=3000 exec_host=n2/0 end=3500",
        "11/16/2016 06:05:01;S;1.s;start=3000 exec_host=n2/0",
    ]
    runs = read_runs(file(tmp_path, "\n".join(rows) + "\n")).runs
    assert [(run.start, run.end) for run in runs] == [(1000.0, 1100.0), (2000.0, 3000.0), (3000.0, 3500.0)]


def test_hosts_of_lsf_in_other_spellings(tmp_path):
    hosts = [("a", "closed_Cu_excl", "9"), ("b", "closed", "3"), ("c", "closed", "0"), ("d", "closed_Adm", "1")]
    records = [{"HOST_NAME": name, "STATUS": status, "NJOBS": jobs} for name, status, jobs in hosts]
    nodes = read_nodes(file(tmp_path, {"COMMAND": "bhosts", "HOSTS": 4, "RECORDS": records}))
    assert [node.drained for node in nodes] == [False, False, True, True]
