"""A book of two programs, and streams of jobs that last some milliseconds on a small machine."""

import pytest

HALO = 'app = { motif = "halo3d", message = "32 KiB" }\ngap = "20 us"'
SPREAD = 'app = { collective = "alltoall", message = "16 KiB" }\ngap = "20 us"'
BOOK = f"""
[[rule]]
name = "halo"
job_name = "1"
optional = true
{HALO}

[[rule]]
name = "spread"
optional = true
{SPREAD}
"""


def swf(*jobs: tuple[float, int, float, int], limit: float = 2.0) -> str:
    """A trace of jobs (submission, nodes, run time, program); each requests `limit` times what it ran."""
    rows = [
        f"{number} {submit:.12f} 0 {run:.12f} {nodes} -1 -1 {nodes} {limit * run:.12f} -1 1 3 4 {program} -1 -1 -1 -1"
        for number, (submit, nodes, run, program) in enumerate(jobs, 1)
    ]
    return "; MaxNodes: 16\n; MaxProcs: 16\n" + "\n".join(rows) + "\n"


@pytest.fixture
def stream(tmp_path):
    """Writes a schedule on the machine `tiny` and returns its file; `more` is further TOML."""

    def write(*jobs, place='"random"', more="", limit=2.0):
        (tmp_path / "book.toml").write_text(BOOK)
        (tmp_path / "jobs.swf").write_text(swf(*jobs, limit=limit))
        text = f'system = "tiny"\nbook = "book.toml"\nplace = {place}\n{more}\n[stream]\ntrace = "jobs.swf"\n'
        file = tmp_path / "days.toml"
        file.write_text(text)
        return file

    return write
