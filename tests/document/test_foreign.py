"""Files of other tools: the error names the kind of file, and what gives the kind that is read in its place."""

import gzip
from pathlib import Path

import pytest

from odonata import document, foreign
from odonata.errors import InputError
from odonata.queue.accounting import read_runs
from odonata.queue.snapshot import read_nodes, read_queue
from odonata.recognition.formats import import_fabric
from odonata.scenario import parse

SIMGRID = """\
<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <zone id="world" routing="Full"><cluster id="c" topology="DRAGONFLY" speed="1Gf" bw="125MBps" lat="50us"/></zone>
</platform>
"""
BARE = '<platform version="4.1"><zone id="world" routing="Full"/></platform>'
KINETO = '{"schemaVersion":1,"traceEvents":[{"ph":"X","cat":"kernel","name":"ncclDevKernel_AllReduce","args":{}}]}'
PYTORCH = '{"schema": "1.1.1-chakra.0.0.4", "pid": 7, "time": "", "nodes": [{"id": 1, "name": "x"}]}'
MPIP = (
    "@ mpiP\n@ Command : ./app\n@ Version                  : 3.5.0\n@--- MPI Time (seconds) ------\nTask    AppTime\n"
)
QSTAT = """\
Job id            Name             User              Time Use S Queue
----------------  ---------------- ----------------  -------- - -----
17.pbs01          x                u1                00:10:00 R workq
"""
QSTAT_AN = """\

pbs01:
                                                            Req'd  Req'd   Elap
Job ID          Username Queue    Jobname    SessID NDS TSK Memory Time  S Time
--------------- -------- -------- ---------- ------ --- --- ------ ----- - -----
17.pbs01        u1       workq    x            1234   2 128    --  01:00 R 00:10
   x1000c0s0b0n0/0*64+x1000c0s0b0n1/0*64
"""
GRID_ENGINE = (
    "job-ID  prior   name       user         state submit/start at     queue        slots\n------\n17 0.5 x u r\n"
)
LSF = "JOBID   USER    STAT  QUEUE      FROM_HOST   EXEC_HOST   JOB_NAME   SUBMIT_TIME\n17 u RUN q a 64*n1 x\n"
GOAL = "num_ranks 2\nrank 0 {\nl1: send 8b to 1\n}\nrank 1 {\nl1: recv 8b from 0\n}\n"


def app(key):
    def read(path):
        parse(
            f'system = "tiny"\n[[job]]\nname = "a"\napp = {{ {key} = "{path.name}" }}\n', path.parent / "s.toml"
        ).resolve()

    return read


PLACES = {
    "trace": app("trace"),
    "matrix": app("matrix"),
    "chakra": app("chakra"),
    "fabric": import_fabric,
    "queue": read_queue,
    "nodes": read_nodes,
    "history": read_runs,
    "scenario": document.read,
}


def refused(place, path):
    with pytest.raises(InputError) as caught:
        PLACES[place](path)
    return caught.value


@pytest.mark.parametrize(
    ("place", "name", "content", "kind", "remedy"),
    [
        ("trace", "traces.otf2", b"\x01\x02\x03", "a trace in OTF2", "otf2-print"),
        ("matrix", "traces.otf2", b"\x01\x02\x03", "a trace in OTF2", "source,target,bytes"),
        ("chakra", "traces.otf2", b"\x01\x02\x03", "a trace in OTF2", "Schedgen"),
        ("trace", "dumpi-2026.11.27.10.00.00-0001.bin", b"\xff\xaa\xddDUMPI\0\0\0\0", "a DUMPI trace", "dumpi2ascii"),
        ("trace", "dumpi-2026.11.27.10.00.00-0001.bin", b"\0" * 40, "a DUMPI trace", "dumpi2ascii"),
        ("matrix", "x.csv", b"\xff\xaa\xddDUMPI\0\0\0\0", "a DUMPI trace", "dumpi2ascii"),
        ("trace", "dumpi-2026.meta", "hostname=n1\nnumprocs=4\n", "a DUMPI trace", "dumpi2ascii"),
        ("trace", "a.prv", "#Paraver (27/11/2026 at 10:00):100:1(4):1\n", "a trace of Paraver", "Schedgen"),
        ("matrix", "a.16.1.mpiP", MPIP, "a report of mpiP", "not of pairs of ranks"),
        ("matrix", "a.csv", MPIP, "a report of mpiP", "source,target,bytes"),
        ("trace", "a.csv", MPIP, "a report of mpiP", "Schedgen"),
        ("chakra", "k.0.et", KINETO, "a trace of PyTorch's profiler", "chakra_trace_link"),
        ("chakra", "kineto.json", KINETO, "a trace of PyTorch's profiler", "chakra_converter PyTorch"),
        (
            "chakra",
            "kineto.json.gz",
            gzip.compress(KINETO.encode()),
            "a trace of PyTorch's profiler",
            "chakra_converter PyTorch",
        ),
        ("trace", "kineto.json", KINETO, "a trace of PyTorch's profiler", "chakra_converter PyTorch"),
        ("matrix", "kineto.json", KINETO, "a trace of PyTorch's profiler", "source,target,bytes"),
        ("chakra", "pytorch.json", PYTORCH, "an execution trace of PyTorch", "with the trace of Kineto"),
        ("chakra", "a.nsys-rep", b"\0\1\2", "a report of Nsight Systems", "chakra_trace_link"),
        ("fabric", "simgrid.xml", SIMGRID, "a platform or a deployment of SimGrid", "[system]"),
        ("fabric", "bare.xml", BARE, "a platform or a deployment of SimGrid", "[system]"),
        ("scenario", "simgrid.xml", SIMGRID, "a platform or a deployment of SimGrid", "[system]"),
        (
            "trace",
            "ti.txt",
            "0 init\n0 compute 1e9\n0 allReduce 4e4 5e8\n",
            "a time-independent trace of SimGrid",
            "GOAL",
        ),
        ("trace", "ti.csv", "0 send 1 0 1e6\n1 recv 0 0 1e6\n", "a time-independent trace of SimGrid", "GOAL"),
        ("trace", "smpi.trace", "#This is a trace\n%EventDef PajeDefineContainerType 0\n", "a trace in Paje", "GOAL"),
        ("trace", "smpi.trace", "%EventDef PajeDefineContainerType 0\n", "a trace in Paje", "GOAL"),
        ("queue", "qstat.txt", QSTAT, "a list of jobs of PBS", "qstat -f -F json"),
        ("queue", "qstat.txt", QSTAT_AN, "a list of jobs of PBS", "qstat -f -F json"),
        ("history", "qstat.txt", QSTAT, "a list of jobs of PBS", "an accounting log of PBS"),
        ("queue", "sge.txt", GRID_ENGINE, "a list of jobs of Grid Engine", "JOBID STATE NODELIST"),
        ("queue", "bjobs.txt", LSF, "a list of jobs of LSF", "bjobs -u all -json"),
        ("nodes", "qstat.txt", QSTAT, "a list of jobs of PBS", ""),
        ("matrix", "a.csv", GOAL, "a schedule in GOAL", "app = { trace ="),
        ("chakra", "a.goal", GOAL, "a schedule in GOAL", "app = { trace ="),
    ],
)
def test_the_kind_of_a_file_is_named(tmp_path, place, name, content, kind, remedy):
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    error = refused(place, path)
    assert f"this is {kind}" in error.message
    assert remedy in (error.hint or "")
    assert Path(error.file) == path


def test_a_folder_of_score_p_is_known_by_its_trace(tmp_path):
    (tmp_path / "scorep").mkdir()
    (tmp_path / "scorep" / "traces.otf2").write_bytes(b"\x01")
    assert "OTF2" in refused("trace", tmp_path / "scorep").message


def test_what_is_suggested_is_read(tmp_path):
    """The table that stands in the place of the listing of another batch system."""
    path = tmp_path / "jobs.txt"
    path.write_text("JOBID STATE NODELIST\n17 RUNNING node[3-5]\n18 PENDING\n")
    assert [(job.id, len(job.nodes)) for job in read_queue(path)] == [("17", 3), ("18", 0)]
    path = tmp_path / "runs.csv"
    path.write_text('start_time,end_time,nodes\n2026-11-27 10:00:00,2026-11-27 11:00:00,"[1, 2]"\n')
    assert [run.count for run in read_runs(path).runs] == [2]


def test_files_that_are_read_are_of_no_other_tool():
    """Catches marks that files have which Odonata reads: all examples, fixtures and pages of the project."""
    root = Path(__file__).parents[2]
    for path in sorted([*(root / "examples").rglob("*.*"), *(root / "tests").rglob("*.*")]):
        if path.suffix in (".toml", ".csv", ".txt", ".json", ".goal", ".bin", ".conf", ".graphml", ".swf"):
            kind = foreign.kind_of(path)
            assert kind is None or kind.name == "a schedule in GOAL", path


def test_an_error_of_another_file_keeps_its_words(tmp_path):
    (tmp_path / "kineto.json").write_text(KINETO)
    error = InputError("no rank", file=tmp_path / "other.json")
    assert foreign.explained(error, tmp_path / "kineto.json", "chakra") is error


@pytest.mark.parametrize("read", [read_runs, read_queue, read_nodes, import_fabric])
@pytest.mark.parametrize(
    ("name", "data", "kind"),
    [
        ("p.xml", SIMGRID.encode(), "a platform or a deployment of SimGrid"),
        ("k.json", KINETO.encode(), "a trace of PyTorch's profiler (Kineto, JSON)"),
        ("a.et", b"\x0a\x07\x0a\x050.0.4\x12\x08\xff", "a Chakra execution trace"),
        ("m.npy", b"\x93NUMPY\x01\x00", "an array of NumPy"),
    ],
)
def test_files_of_programs_are_named_where_clusters_are_read(tmp_path, read, name, data, kind):
    (tmp_path / name).write_bytes(data)
    with pytest.raises(InputError) as refused:
        read(tmp_path / name)
    assert refused.value.message.startswith(f"this is {kind}, not a ")
    assert refused.value.hint
