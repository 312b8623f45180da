"""`odonata archive --check` of archives that somebody made to do harm, or that are damaged."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import lzma
import shutil
import struct
import tarfile
import zipfile
from pathlib import Path

import pytest

from odonata.archive import pack, unpack
from odonata.runner import run
from odonata.scenario import load

SCENARIO = """\
system = "tiny"
[[job]]
name = "a"
nodes = 4
app = { collective = "allreduce", algorithm = "ring", message = "1 KB" }
iterations = 2
"""


@pytest.fixture(scope="module")
def sound(tmp_path_factory) -> Path:
    """An archive as a folder."""
    home = tmp_path_factory.mktemp("sound")
    (home / "s.toml").write_text(SCENARIO)
    run(load(home / "s.toml"), out=home / "run")
    pack.make(home / "run", home / "kept", near=None, plots=[""], title="kept", authors=(), year=2026)
    return home / "kept"


@pytest.fixture
def root(sound, tmp_path, monkeypatch) -> Path:
    """A copy of it, to be changed."""
    monkeypatch.chdir(tmp_path)
    return Path(shutil.copytree(sound, tmp_path / "kept"))


def signed(root: Path) -> str:
    """The checksums of what is there now."""
    (root / "SHA256SUMS").unlink()
    names = sorted(path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file())
    sums = [f"{hashlib.sha256((root / name).read_bytes()).hexdigest()}  {name}\n" for name in names]
    (root / "SHA256SUMS").write_text("".join(sums))
    return str(root)


def with_lock(root: Path, **changes: object) -> str:
    lock = json.loads((root / "lock.json").read_text())
    (root / "lock.json").write_text(json.dumps(lock | changes))
    return signed(root)


PLOT = "odonata plot results"
FIGURE = "-o figures/figure-1.png"


@pytest.mark.parametrize(
    "command",
    [
        "odonata plot results --force -o VICTIM --title figures/f.png",
        f"{PLOT} -o VICTIM --force --title {FIGURE}",
        f"{PLOT} -o VICTIM {FIGURE}",
        f"{PLOT} -oVICTIM {FIGURE}",
        f"{PLOT} -o=VICTIM {FIGURE}",
        f"{PLOT} --out VICTIM {FIGURE}",
        f"{PLOT} --out=VICTIM {FIGURE}",
        f"{PLOT} --force {FIGURE}",
        f"{PLOT} --json {FIGURE}",
        f"{PLOT} --no-verify {FIGURE}",
        f"{PLOT} --title --out=VICTIM {FIGURE}",
        f"{PLOT} --title -oVICTIM {FIGURE}",
        f"{PLOT} --by=-oVICTIM {FIGURE}",
        f"{PLOT} --animate VICTIM -o figures/figure-1.gif",
        f"{PLOT} -- {FIGURE}",
        f"{PLOT} {FIGURE} --out VICTIM",
        f"{PLOT} -o VICTIM",
        "odonata plot VICTIM -o figures/figure-1.png",
        "odonata run inputs/s.toml --force -o VICTIM --set name=figures/f.png",
        "odonata sweep inputs/s.toml -o figures/figure-1.png",
        "sh -c true",
        "odonata",
        "",
        f"{PLOT} ' {FIGURE}",
        f"{PLOT} -o figures/",
        f"{PLOT} -o figures/../../x.png",
        f"{PLOT} -o figures/figure-2.png",
        f"{PLOT} --title 'a\0b' {FIGURE}",
        f"{PLOT} --title \ud800 {FIGURE}",
        f"{PLOT} --title {'x' * 200_000} {FIGURE}",
        7,
        None,
    ],
)
def test_a_figure_is_drawn_by_options_alone(odonata, root, tmp_path, command, monkeypatch) -> None:
    """Nothing is executed: neither the simulation before the figures nor the command."""
    victim = tmp_path / "victim.png"
    shutil.copy(root / "figures" / "figure-1.png", victim)
    before = (victim.read_bytes(), victim.stat().st_mtime_ns)
    monkeypatch.setattr("odonata.archive.check.run_command", lambda *_: pytest.fail("it was executed"))
    first = json.loads((root / "lock.json").read_text())["commands"][0]
    given = command.replace("VICTIM", str(victim)) if isinstance(command, str) else command
    status, _, err = odonata("archive", "--check", with_lock(root, commands=[first, given]))
    assert status == 2, err
    assert "lock.json` of `" in err or "`lock.json` that says" in err
    assert (victim.read_bytes(), victim.stat().st_mtime_ns) == before


@pytest.mark.parametrize(
    "changes",
    [
        {"commands": []},
        {"commands": "odonata"},
        {"commands": ["odonata run inputs/s.toml -o VICTIM --force"]},
        {"commands": ["odonata run inputs/s.toml -o again --set name=x"]},
        {"main": "../s.toml"},
        {"main": "/etc/passwd"},
        {"main": "absent.toml"},
        {"main": "s.toml -o x"},
        {"main": 7},
        {"kind": "python"},
        {"kind": ["study"]},
        {"alone": "yes"},
    ],
)
def test_the_simulation_is_the_one_of_the_inputs(odonata, root, changes, monkeypatch) -> None:
    monkeypatch.setattr("odonata.archive.check.run_command", lambda *_: pytest.fail("it was executed"))
    status, _, err = odonata("archive", "--check", with_lock(root, **changes))
    assert status == 2, err
    assert "lock.json`" in err


def test_files_of_an_archive_are_no_program_and_no_settings(odonata, root, tmp_path) -> None:
    """Python takes modules from the working folder, and Matplotlib its settings."""
    (root / "odonata").mkdir()
    (root / "odonata" / "__init__.py").write_text("")
    (root / "odonata" / "__main__.py").write_text(f"open({str(tmp_path / 'done')!r}, 'w')")
    (root / "json.py").write_text(f"open({str(tmp_path / 'done')!r}, 'w')")
    (root / "matplotlibrc").write_text("figure.dpi: 17\nsavefig.facecolor: red\n")
    status, out, err = odonata("archive", "--check", signed(root))
    assert status == 0, err + out
    assert not (tmp_path / "done").exists()


def test_what_the_readme_says_leaves_the_archive_sound(odonata, root, monkeypatch) -> None:
    monkeypatch.chdir(root)
    commands = json.loads(Path("lock.json").read_text())["commands"]
    for command in [*commands, "odonata report results"]:
        assert odonata(*command.split()[1:])[0] == 0
    assert Path("again/manifest.json").is_file()
    status, out, err = odonata("archive", "--check", ".")
    assert status == 0, err + out


@pytest.mark.parametrize(
    ("gone", "said"),
    [
        ("results/jobs.parquet", "`results/jobs.parquet` is missing"),
        ("results/*.parquet", "is missing"),
        ("results/manifest.json", "has no `results/manifest.json`"),
        ("results/*", "has no `results/manifest.json`"),
        ("figures/*", "`figures/figure-1.png` is missing"),
        ("lock.json", "has no `lock.json`"),
        ("inputs/*", "no scenario or study in `inputs/`"),
    ],
)
def test_an_archive_without_some_files_is_damaged(odonata, root, gone, said) -> None:
    for path in list(root.glob(gone)):
        path.unlink()
    if not list(root.glob("results/*")):
        (root / "results").rmdir()
    status, _, err = odonata("archive", "--check", signed(root))
    assert status == 2, err
    assert said in err
    assert f"`{root}`" in err


def test_results_without_tables_are_not_the_same(odonata, root) -> None:
    """Also if the manifest does not list them: it is compared with that of the repetition."""
    manifest = json.loads((root / "results" / "manifest.json").read_text())
    del manifest["files"]["jobs.parquet"]
    (root / "results" / "jobs.parquet").unlink()
    (root / "results" / "manifest.json").write_text(json.dumps(manifest))
    lock = json.loads((root / "lock.json").read_text())
    status, out, err = odonata("archive", "--check", with_lock(root, commands=lock["commands"][:1]))
    assert status == 1, err
    assert "different: results/jobs.parquet" in out
    (root / "results" / "manifest.json").write_text(json.dumps(manifest | {"files": {}}))
    status, _, err = odonata("archive", "--check", signed(root))
    assert status == 2
    assert f"`{root}` has no results" in err


@pytest.mark.parametrize("text", ["{", "[]", "7", '{"files": 7}', '{"files": {"../x": 1}}', "[" * 100_000, "\ud800"])
def test_a_broken_manifest_or_lock_is_named(odonata, root, text) -> None:
    (root / "results" / "manifest.json").write_bytes(text.encode("utf-8", "surrogatepass"))
    status, _, err = odonata("archive", "--check", signed(root))
    assert status == 2
    assert f"`{root}`" in err
    (root / "lock.json").write_bytes(text.encode("utf-8", "surrogatepass"))
    status, _, err = odonata("archive", "--check", signed(root))
    assert status == 2
    assert f"`{root}` has no `lock.json`" in err


def zipped(kind: int = zipfile.ZIP_DEFLATED) -> bytearray:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", kind) as packed:
        packed.writestr("a/x", bytes(range(256)) * 100)
    return bytearray(made.getvalue())


def damaged(kind: int) -> bytes:
    data = zipped(kind)
    data[35:60] = b"\xff" * 25
    return bytes(data)


def encrypted() -> bytes:
    data = zipped()
    data[data.find(b"PK\x03\x04") + 6] |= 1
    data[data.find(b"PK\x01\x02") + 8] |= 1
    return bytes(data)


def tarred(name: str, headers: dict[str, str] | None = None) -> bytes:
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w:gz", format=tarfile.PAX_FORMAT) as tar:
        item = tarfile.TarInfo(name)
        item.size, item.pax_headers = 1, headers or {}
        tar.addfile(item, io.BytesIO(b"1"))
    return made.getvalue()


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("a.zip", encrypted()),
        ("a.zip", damaged(zipfile.ZIP_DEFLATED)),
        ("a.zip", damaged(zipfile.ZIP_LZMA)),
        ("a.zip", damaged(zipfile.ZIP_BZIP2)),
        ("a.zip", bytes(zipped())[:-30]),
        ("a.zip", b""),
        ("a.tar.gz", tarred("a/x", {"path": "a/x\0y"})),
        ("a.tar.gz", tarred("a/x", {"size": "-7"})),
        ("a.tar.gz", tarred("a/" + "x" * 5000)),
        ("a.tar.gz", tarred("a/x")[:40]),
        ("a.tar.gz", gzip.compress(b"x" * 5000)),
        ("a.tar.gz", lzma.compress(b"x" * 5000)),
        ("a.tar.gz", b""),
    ],
    ids=lambda value: value if isinstance(value, str) else "data",  # bytes hold the time, so they are no name
)
def test_a_damaged_archive_is_an_error(odonata, tmp_path, monkeypatch, name, data) -> None:
    monkeypatch.chdir(tmp_path)
    Path(name).write_bytes(data)
    status, _, err = odonata("archive", "--check", name)
    assert status == 2, err
    assert f"`{name}`" in err
    assert "Traceback" not in err


def declared(size: int) -> bytes:
    """A ZIP archive with a file that says that it has this many bytes."""
    data = zipped()
    at = data.find(b"PK\x01\x02")
    data[at + 24 : at + 28] = struct.pack("<I", size)
    return bytes(data)


def test_sizes_are_limited_before_and_while_unpacking(odonata, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(unpack, "MOST_BYTES", 1 << 30)
    # As declared: nothing is unpacked.
    Path("said.zip").write_bytes(declared((1 << 32) - 2))
    with monkeypatch.context() as patched:
        patched.setattr(zipfile.ZipFile, "open", lambda *_: pytest.fail("it was unpacked"))
        assert "has more than 1 GiB" in odonata("archive", "--check", "said.zip")[2]
    # Two files, each below the limit.
    with zipfile.ZipFile("two.zip", "w") as packed:
        packed.writestr("a/x", b"1" * 700)
        packed.writestr("a/y", b"1" * 700)
    with tarfile.open("two.tar.gz", "w:gz") as tar:
        for name in ("a/x", "a/y"):
            item = tarfile.TarInfo(name)
            item.size = 700
            tar.addfile(item, io.BytesIO(b"1" * 700))
    monkeypatch.setattr(unpack, "MOST_BYTES", 1000)
    for name in ("two.zip", "two.tar.gz"):
        assert f"`{name}` has more than" in odonata("archive", "--check", name)[2]
    monkeypatch.setattr(unpack, "MOST_BYTES", 1 << 30)
    monkeypatch.setattr(unpack, "MOST_FILES", 1)
    for name in ("two.zip", "two.tar.gz"):
        assert "has more than 1 files" in odonata("archive", "--check", name)[2]


def test_no_member_and_no_header_is_read_whole(tmp_path, monkeypatch) -> None:
    """Memory is that of a part, for a file of a hundred parts and for a header of tar."""
    import tracemalloc

    with zipfile.ZipFile(tmp_path / "a.zip", "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("a/x", bytes(100 << 20))
    item = tarfile.TarInfo("a/x")
    item.type, item.size = tarfile.XHDTYPE, 100 << 20
    with gzip.open(tmp_path / "a.tar.gz", "wb") as out:
        out.write(item.tobuf(tarfile.PAX_FORMAT))
        for _ in range(100):
            out.write(bytes(1 << 20))
    tracemalloc.start()
    try:
        unpack.unpacked(tmp_path / "a.zip", tmp_path / "zip")
        with pytest.raises(unpack.InputError, match="a header of"):
            unpack.unpacked(tmp_path / "a.tar.gz", tmp_path / "tar")
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert (tmp_path / "zip" / "x").stat().st_size == 100 << 20
    assert most < 20 << 20
