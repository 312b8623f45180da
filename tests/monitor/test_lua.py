"""What Slurm's scripts read of the advice file, in Lua itself: right files, wrong ones, and random changes."""

from __future__ import annotations

import random
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SUBMISSION = ROOT / "packaging" / "submission"
LUAS = [name for name in ("lua5.1", "lua5.3", "lua5.4", "lua") if shutil.which(name)]
NOW = 1_800_000_000
TEXT = f"""odonata-advice 1
time {NOW - 100}
valid 300
background 0.6120
idle 3
flag 0.3000
size 2 wait 0 leaves 1 groups 1 risk 0.1000 nodes n[2-3]
size 3 wait 0 leaves 2 groups 1 risk 0.6000 quiet 3600 nodes n[2-3,7]
size 4 wait 600
size 8
end
"""

pytestmark = pytest.mark.skipif(not LUAS, reason="no Lua here; `make system-deps` installs it (as root)")


def said(folder: Path, texts: list[bytes], nodes: int = 3, lua: str | None = None) -> list[tuple[float, str]]:
    """What the scripts say for a job by each text, with the seconds that it took."""
    paths = []
    for number, text in enumerate(texts):
        paths.append(folder / f"{number}")
        paths[-1].write_bytes(text)
    return read(paths, nodes, lua)


def read(paths: list[Path], nodes: int = 3, lua: str | None = None) -> list[tuple[float, str]]:
    driver = str(Path(__file__).with_name("advice.lua"))
    command = [lua or LUAS[0], driver, str(SUBMISSION / "odonata_advice.lua"), str(NOW), str(nodes)]
    done = subprocess.run([*command, *map(str, paths)], capture_output=True, check=False, timeout=60)
    assert (done.returncode, done.stderr) == (0, b"")
    lines = done.stdout.decode("ascii").splitlines()
    assert len(lines) == len(paths)
    return [(float(took), message) for took, _, message in (line.partition(" ") for line in lines)]


@pytest.mark.parametrize("lua", LUAS)
@pytest.mark.parametrize(
    ("nodes", "message"),
    [
        (
            2,
            "odonata: background utilisation 61 %, 3 nodes idle. 2 nodes fit now on 1 leaf switch of 1 group: "
            "--switches=1 or --nodelist=n[2-3]. There the risk of the long tail is 10 %.",
        ),
        (
            3,
            "odonata: background utilisation 61 %, 3 nodes idle. 3 nodes fit now on 2 leaf switches of 1 group: "
            "--switches=2 or --nodelist=n[2-3,7]. There the risk of the long tail is 60 %; if it starts in 60 min, "
            "below 30 %.",
        ),
        (
            4,
            "odonata: background utilisation 61 %, 3 nodes idle. 4 nodes do not fit now, but in 10 min at the latest "
            "if no other job starts.",
        ),
        (5, "odonata: background utilisation 61 %, 3 nodes idle. 5 nodes do not fit now."),
        (1, "nil"),
        (9, "nil"),
    ],
)
def test_messages(tmp_path, lua, nodes, message):
    assert [of for _, of in said(tmp_path, [TEXT.encode()], nodes, lua)] == [message]


WRONG = {
    "empty": "",
    "one line": "odonata-advice 1\n",
    "another version": TEXT.replace("advice 1", "advice 2"),
    "too old": TEXT.replace(str(NOW - 100), str(NOW - 301)),
    "of the future": TEXT.replace(str(NOW - 100), str(NOW + 61)),
    "without an end": TEXT.removesuffix("end\n"),
    "an end that is cut": TEXT.removesuffix("\n"),
    "more after the end": TEXT + "size 16\n",
    "without a time": TEXT.replace(f"time {NOW - 100}\n", ""),
    "without a validity": TEXT.replace("valid 300\n", ""),
    "a key twice": TEXT.replace("idle 3", "idle 3\nidle 4"),
    "an unknown key": TEXT.replace("idle 3", "idle 3\nodd 4"),
    "an unknown key of a size": TEXT.replace("quiet", "loud"),
    "a key of a size twice": TEXT.replace("leaves 2", "leaves 2 leaves 2"),
    "a size without a value": TEXT.replace("quiet 3600", "quiet"),
    "sizes that descend": TEXT.replace("size 8", "size 3"),
    "a share above 1": TEXT.replace("0.6120", "1.5"),
    "a risk above 1": TEXT.replace("0.6000", "6"),
    "not a number": TEXT.replace("0.6120", "nan"),
    "infinite": TEXT.replace("valid 300", "valid inf"),
    "negative": TEXT.replace("idle 3", "idle -3"),
    "hexadecimal": TEXT.replace("idle 3", "idle 0x3"),
    "half a switch": TEXT.replace("leaves 2", "leaves 2.5"),
    "commands in a list of nodes": TEXT.replace("n[2-3,7]", "$(reboot)"),
    "a format in a list of nodes": TEXT.replace("n[2-3,7]", "n%s%n"),
    "an escape in a list of nodes": TEXT.replace("n[2-3,7]", "n\x1b[31m"),
    "a long list of nodes": TEXT.replace("n[2-3,7]", "n" * 513),
    "too long": TEXT.removesuffix("end\n") + "size 16\n" * 3000 + "end\n",
    "no switch": TEXT.replace("leaves 2", "leaves 0"),
    "no group": TEXT.replace("leaves 2 groups 1", "leaves 2 groups 0"),
    "more switches than nodes": TEXT.replace("leaves 2", "leaves 4"),
    "more groups than switches": TEXT.replace("leaves 2 groups 1", "leaves 2 groups 3"),
    "an absurd wait": TEXT.replace("wait 600", "wait 99999999999999999999"),
    "a wait of more than a year": TEXT.replace("wait 600", "wait 31622401"),
    "an absurd quiet": TEXT.replace("quiet 3600", "quiet 99999999999999999999"),
    "an absurd validity": TEXT.replace("valid 300", "valid 99999999999999999999"),
    "absurdly many idle nodes": TEXT.replace("idle 3", "idle 99999999999999999999"),
    "half a node idle": TEXT.replace("idle 3", "idle 3.5"),
    "a wrong partition": TEXT.replace("idle 3", "idle 3\npartition $(reboot)"),
    "carriage returns": TEXT.replace("\n", "\r\n"),
    "Lua": 'os.execute("touch owned")\n',
    "bytecode": "\x1bLua" + TEXT,
}


@pytest.mark.parametrize("lua", LUAS)
def test_wrong_files(tmp_path, lua):
    answers = said(tmp_path, [text.encode() for text in WRONG.values()], lua=lua)
    assert [name for name, (_, message) in zip(WRONG, answers, strict=True) if message != "nil"] == []


def test_what_is_no_file(tmp_path):
    (tmp_path / "folder").mkdir()
    paths = [tmp_path / "none", tmp_path / "folder", Path("/dev/null"), Path("/dev/zero")]
    assert [message for _, message in read(paths)] == ["nil"] * 4


def test_random_changes(tmp_path):
    """Never an error, never more than one line of plain letters, never slow."""
    chosen = random.Random(7)
    right, texts = TEXT.encode(), []
    for _ in range(1500):
        text = bytearray(right)
        for _ in range(chosen.randrange(1, 6)):
            at = chosen.randrange(len(text) + 1)
            change = chosen.randrange(4)
            if change == 0:
                text[at : at + chosen.randrange(1, 40)] = b""
            elif change == 1:
                text[at:at] = bytes(chosen.choices(b"0123456789.-+eEx \n\r\0%[](){}\xff\x80aendsize", k=3))
            elif change == 2:
                text[at : at + 1] = bytes([chosen.randrange(256)])
            else:
                text[at:at] = text[at : at + chosen.randrange(1, 200)] * chosen.randrange(1, 30)
        texts.append(bytes(text))
    answers = said(tmp_path, texts)
    messages = {message for _, message in answers}
    assert "nil" in messages
    assert len(messages) > 3  # some changes leave a file right
    assert all(message == "nil" or (message.startswith("odonata: ") and len(message) < 1000) for message in messages)
    assert all(message.isprintable() for message in messages)
    assert max(took for took, _ in answers) < 0.05


@pytest.mark.parametrize("script", ["job_submit.lua", "cli_filter.lua"])
@pytest.mark.parametrize("broken", [False, True])
def test_scripts_without_what_they_read(tmp_path, script, broken):
    """Without odonata_advice.lua, with one that is wrong, and with jobs that lack every field: success."""
    shutil.copy(SUBMISSION / script, tmp_path)
    if broken:
        (tmp_path / "odonata_advice.lua").write_text("error('no')")
    call = f"""
slurm = {{SUCCESS = 0, log_user = function() error("no") end}}
assert(dofile("{tmp_path / script}") == 0)
if slurm_job_submit then
  assert(slurm_job_submit({{}}, {{}}, 0) == 0)
  assert(slurm_job_modify({{}}, {{}}, {{}}, 0) == 0)
else
  assert(slurm_cli_setup_defaults({{}}, false) == 0)
  assert(slurm_cli_pre_submit({{}}, 0) == 0)
  assert(slurm_cli_post_submit(0, 1, 0) == 0)
end"""
    done = subprocess.run([LUAS[0], "-e", call], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_switches_of_a_larger_size(tmp_path):
    text = TEXT.replace("size 2 wait 0 leaves 1 groups 1 risk 0.1000 nodes n[2-3]\n", "")
    [(_, message)] = said(tmp_path, [text.encode()], nodes=2)
    assert "2 nodes fit now on at most 2 leaf switches of 1 group: --switches=2." in message


SCRIPT = """
slurm = { SUCCESS = 0, log_user = function(_, message) io.stderr:write(message, "\\n") end }
os.time = function() return NOW end
dofile("SCRIPT")
local parts = { main = { flag_default = 1 }, debug = { flag_default = 0 } }
if slurm_job_submit then slurm_job_submit(JOB, parts, 0) else slurm_cli_pre_submit(JOB, 0) end
"""


def submitted(folder: Path, name: str, job: str, text: str, lua: str) -> str:
    """What a script of Slurm tells for a job, a table of Lua."""
    for file in SUBMISSION.glob("*.lua"):
        source = file.read_text().replace("/var/lib/odonata/advice", str(folder / "advice"))
        (folder / file.name).write_text(source.replace('DEFAULT_PARTITION = ""', 'DEFAULT_PARTITION = "main"'))
    (folder / "advice").write_text(text)
    driver = SCRIPT.replace("NOW", str(NOW)).replace("SCRIPT", str(folder / name)).replace("JOB", job)
    (folder / "driver").write_text(driver)
    done = subprocess.run([lua, folder / "driver"], capture_output=True, check=True, timeout=60)
    return done.stderr.decode()


@pytest.mark.parametrize("lua", LUAS)
@pytest.mark.parametrize(
    ("nodes", "count"),
    [("3", 3), ("3-8", 3), ("8,4", 4), ("3,4-8:2", 3), ("4k", 4096), ("4K-8K", 4096), ("2m", 2097152)]
    + [(nodes, None) for nodes in ("", "4x", "4kk", "-4", "k", "4,", "4-", "4294967294")],
)
def test_nodes_as_slurm_reads_them(tmp_path, lua, nodes, count):
    text = TEXT.replace("size 8\n", "size 8\nsize 4096 wait 60\nsize 99999999 wait 120\n")
    told = submitted(tmp_path, "cli_filter.lua", f'{{ nodes = "{nodes}" }}', text, lua)
    assert (f". {count} nodes " in told) if count else told == ""


@pytest.mark.parametrize("lua", LUAS)
@pytest.mark.parametrize("name", ["job_submit.lua", "cli_filter.lua"])
def test_advice_of_one_partition_is_told_to_its_jobs(tmp_path, lua, name):
    def told(partition: str | None, text: str) -> bool:
        asked = "" if partition is None else f', partition = "{partition}"'
        return submitted(tmp_path, name, f"{{ min_nodes = 3, nodes = 3{asked} }}", text, lua) != ""

    main, debug = (TEXT.replace("idle 3", f"idle 3\npartition {of}") for of in ("main", "debug"))
    jobs = ("main", "debug", "main,debug", None)
    assert [told(of, TEXT) for of in jobs] == [True] * 4
    assert [told(of, main) for of in jobs] == [True, False, False, True]
    assert [told(of, debug) for of in jobs] == [False, True, False, False]
