"""`odonata archive`: packed, moved away, repeated, and what is wrong with one that was changed."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import tarfile
import zipfile
from pathlib import Path

import pytest

MATRIX = "source,target,bytes\n" + "".join(f"{a},{(a + 1) % 4},4000\n" for a in range(4))
SCENARIO = """\
system = "tiny"
[[job]]
name = "a"
nodes = 4
app = { matrix = "PATH" }
iterations = 3
"""
STUDY = 'base = "s.toml"\n[sweep]\nrouting = ["minimal", "fpar"]\n"run.seed" = [1, 2]\n'


@pytest.fixture
def project(tmp_path, monkeypatch) -> Path:
    """A project in which the scenario, its matrix and the results are in three folders."""
    home = tmp_path / "project"
    for name in ("scenarios", "data", "elsewhere"):
        (home / name).mkdir(parents=True)
    (home / "data" / "m.csv").write_text(MATRIX)
    (home / "scenarios" / "s.toml").write_text(SCENARIO.replace("PATH", "../data/m.csv"))
    (home / "scenarios" / "many.toml").write_text(STUDY)
    monkeypatch.chdir(home)
    return home


def unpacked(archive: str, to: Path) -> Path:
    with tarfile.open(archive) as tar:
        tar.extractall(to, filter="data")
    return next(to.iterdir())


def test_a_run_is_repeated_without_the_project(odonata, project, tmp_path) -> None:
    """Everything is moved away: nothing outside of the archive is needed."""
    assert odonata("run", "scenarios/s.toml", "-q", "-o", "elsewhere/run", "-s", "routing=minimal")[0] == 0
    status, out, err = odonata(
        "archive", "elsewhere/run", "-o", "a.tar.gz", "--author", "Doe, Jane & co", "--year", "2026"
    )
    assert status == 0, err
    assert "odonata archive --check a.tar.gz" in out
    shutil.move(project / "a.tar.gz", tmp_path / "a.tar.gz")
    shutil.rmtree(project / "data")
    shutil.rmtree(project / "scenarios")
    shutil.rmtree(project / "elsewhere")
    status, out, err = odonata("archive", "--check", str(tmp_path / "a.tar.gz"), "--json")
    assert status == 0, err + out
    told = json.loads(out)
    assert told["different"] == []
    assert {"results/jobs.parquet", "results/resolved.json", "results/manifest.json", "figures/figure-1.png"} <= set(
        told["same"]
    )
    root = unpacked(str(tmp_path / "a.tar.gz"), tmp_path / "here")
    assert sorted(path.name for path in (root / "inputs").rglob("*") if path.is_file()) == ["m.csv", "s.toml"]
    for path in root.rglob("*"):
        if path.is_file() and path.parent.name != "figures":
            assert str(tmp_path).encode() not in path.read_bytes(), path
    lock = json.loads((root / "lock.json").read_text())
    assert re.fullmatch(r"odonata run inputs/\w+/s\.toml -o again", lock["commands"][0])
    assert lock["packages"]["polars"]
    assert json.loads((root / "datacite.json").read_text())["creators"] == [{"name": "Doe, Jane & co"}]
    assert r"author = {Doe, Jane \& co}" in (root / "citation.bib").read_text()
    assert "Doe, Jane & co" in (root / "CITATION.cff").read_text()


def test_the_same_archive_has_the_same_bytes(odonata, project) -> None:
    assert odonata("run", "scenarios/s.toml", "-q", "-o", "run")[0] == 0
    for ending in ("tar.gz", "zip"):
        made = []
        for folder in ("one", "two"):
            (project / folder).mkdir(exist_ok=True)
            assert odonata("archive", "run", "-o", f"{folder}/a.{ending}", "--year", "2026")[0] == 0
            made.append((project / folder / f"a.{ending}").read_bytes())
        assert made[0] == made[1]
    with zipfile.ZipFile("one/a.zip") as packed:
        assert packed.testzip() is None
        assert all(name.startswith("a/") for name in packed.namelist())
    assert odonata("archive", "--check", "one/a.zip")[0] == 0


def test_a_study_with_figures_is_repeated(odonata, project, tmp_path) -> None:
    assert odonata("sweep", "scenarios/many.toml", "-q", "-j", "1", "-o", "elsewhere/many")[0] == 0
    plots = ["--figure", "--by routing --size 5x4", "--figure", "--value iterations"]
    status, _, err = odonata("archive", "elsewhere/many", "-o", "folder", *plots)
    assert status == 0, err
    shutil.move(project / "folder", tmp_path / "folder")
    shutil.rmtree(project / "scenarios")
    status, out, err = odonata("archive", "--check", str(tmp_path / "folder"), "--json")
    assert status == 0, err + out
    assert {"results/jobs.parquet", "results/runs.parquet", "figures/figure-1.png", "figures/figure-2.png"} <= set(
        json.loads(out)["same"]
    )


def test_absolute_paths_become_relative(odonata, project, tmp_path) -> None:
    Path("scenarios/abs.toml").write_text(SCENARIO.replace("PATH", str(project / "data" / "m.csv")))
    assert odonata("run", "scenarios/abs.toml", "-q", "-o", "run")[0] == 0
    status, _, err = odonata("archive", "run", "-o", "a.tar.gz", "--inputs", "scenarios")
    assert status == 0, err
    root = unpacked("a.tar.gz", tmp_path / "here")
    assert 'matrix = "../data/m.csv"' in next(root.glob("inputs/**/abs.toml")).read_text()


def test_a_changed_input_is_not_packed(odonata, project) -> None:
    assert odonata("run", "scenarios/s.toml", "-q", "-o", "run")[0] == 0
    Path("data/m.csv").write_text(MATRIX.replace("4000", "5000"))
    status, _, err = odonata("archive", "run", "-o", "a.tar.gz")
    assert status == 2
    assert "the inputs of `run` were not found" in err
    assert not Path("a.tar.gz").exists()


def test_what_was_changed_in_an_archive_is_named(odonata, project, tmp_path) -> None:
    assert odonata("run", "scenarios/s.toml", "-q", "-o", "run")[0] == 0
    assert odonata("archive", "run", "-o", "a.tar.gz")[0] == 0
    root = unpacked("a.tar.gz", tmp_path / "here")
    matrix = next(root.glob("inputs/**/m.csv"))
    matrix.write_text(MATRIX.replace("4000", "5000"))
    assert "`inputs/data/m.csv` does not have its checksum" in odonata("archive", "--check", str(root))[2]
    # With a new checksum it is a sound archive of something else.
    sums = root / "SHA256SUMS"
    old = hashlib.sha256(MATRIX.encode()).hexdigest()
    sums.write_text(sums.read_text().replace(old, hashlib.sha256(matrix.read_bytes()).hexdigest()))
    status, out, err = odonata("archive", "--check", str(root))
    assert status == 1, err
    assert "different: results/jobs.parquet" in out
    lock = root / "lock.json"
    digest = hashlib.sha256(lock.read_bytes()).hexdigest()
    lock.write_text(lock.read_text().replace("figures/figure-1.png", "../../x.png"))
    sums.write_text(sums.read_text().replace(digest, hashlib.sha256(lock.read_bytes()).hexdigest()))
    status, _, err = odonata("archive", "--check", str(root))
    assert status == 2
    assert "names files outside of it" in err


def test_wrong_use_is_an_error(odonata, project) -> None:
    assert odonata("run", "scenarios/s.toml", "-q", "-o", "run")[0] == 0
    Path("not.tar.gz").write_bytes(b"nothing")
    for arguments, said in (
        (["absent"], "is not the folder of a run or a study"),
        (["run", "-o", "a.rar.gz"], "an archive ends in .tar.gz or .zip"),
        (["run", "-o", "nope/a.zip"], "there is no folder"),
        (["run", "-o", "not.tar.gz"], "`not.tar.gz` exists"),
        (["run", "-o", "x.zip", "--figure", "-o ../y.png"], "names its own file"),
        (["run", "-o", "x.zip", "--figure", "--kind nothing"], "failed"),
        (["--check", "not.tar.gz"], "is not an archive of odonata"),
        (["--check", "absent.zip"], "there is no archive"),
        (["--check", "run"], "it has no SHA256SUMS"),
        (["--check", "not.tar.gz", "--year", "2026"], "`--year` does nothing with `--check`"),
    ):
        status, _, err = odonata("archive", *arguments)
        assert status in (1, 2), arguments
        assert said in err, arguments
    assert not list(Path().glob("x.*"))


GRAPH = """\
kind = "graph"
links = LINKS
[fabric.links]
node = { bandwidth = "100 Gbit/s", latency = "10 ns" }
link = { bandwidth = "100 Gbit/s", latency = "25 ns" }
"""
LINKS = "s,n1\ns,n2\nt,n3\nt,n4\ns,t\n"


def packed_elsewhere(odonata, project: Path, tmp_path: Path, arguments: list[str]) -> tuple[int, str]:
    """Packs results, moves everything else away, and repeats the archive."""
    status, _, err = odonata("archive", *arguments, "-o", str(tmp_path / "a.tar.gz"))
    assert status == 0, err
    shutil.move(project, tmp_path / "moved")
    status, out, err = odonata("archive", "--check", str(tmp_path / "a.tar.gz"))
    shutil.move(tmp_path / "moved", project)
    return status, out + err


@pytest.mark.parametrize("quoted", ['"{}"', "'{}'", '"""{}"""', "'''{}'''", '"\\u002f{}"', '"{}" # it\'s "one"'])
def test_absolute_paths_in_any_quotes_become_relative(odonata, project, tmp_path, quoted, monkeypatch) -> None:
    path = str(project / "data" / "m.csv")
    written = quoted.format(path[1:] if "u002f" in quoted else path)
    if "#" in quoted:
        text = SCENARIO.replace('{ matrix = "PATH" }', "{ type = 1 }").replace("app = { type = 1 }", "")
        text = text + f"[job.app]\nmatrix = {written}\n"
    else:
        text = SCENARIO.replace('"PATH"', written)
    Path("scenarios/s.toml").write_text(text)
    assert odonata("run", "scenarios/s.toml", "-q", "-o", "run")[0] == 0
    monkeypatch.chdir(tmp_path)
    status, said = packed_elsewhere(odonata, project, tmp_path, [str(project / "run"), "--inputs", "project/scenarios"])
    assert status == 0, said


@pytest.mark.parametrize("quote", ["'", '"'])
def test_absolute_paths_of_a_system_become_relative(odonata, project, tmp_path, quote, monkeypatch) -> None:
    Path("data/l.csv").write_text(LINKS)
    Path("data/m.toml").write_text(GRAPH.replace("LINKS", f"{quote}{project}/data/l.csv{quote}"))
    scenario = SCENARIO.replace("PATH", "../data/m.csv").replace('"tiny"', '"../data/m.toml"')
    Path("scenarios/s.toml").write_text(scenario)
    assert odonata("run", "scenarios/s.toml", "-q", "-o", "run")[0] == 0
    monkeypatch.chdir(tmp_path)
    status, said = packed_elsewhere(odonata, project, tmp_path, [str(project / "run")])
    assert status == 0, said


def test_a_study_with_absolute_paths_is_repeated(odonata, project, tmp_path, monkeypatch) -> None:
    Path("scenarios/s.toml").write_text(SCENARIO.replace('"PATH"', f"'{project}/data/m.csv'"))
    Path("scenarios/many.toml").write_text(STUDY.replace('"s.toml"', f"'{project}/scenarios/s.toml'"))
    assert odonata("sweep", "scenarios/many.toml", "-q", "-j", "1", "-o", "many")[0] == 0
    monkeypatch.chdir(tmp_path)
    status, said = packed_elsewhere(odonata, project, tmp_path, [str(project / "many")])
    assert status == 0, said


def test_a_file_outside_of_the_archive_is_named(odonata, project, monkeypatch) -> None:
    """If a path cannot be made relative, nothing is packed."""
    monkeypatch.setattr("odonata.archive.paths.rewritten", lambda text, _: text)
    Path("data/l.csv").write_text(LINKS)
    Path("data/m.toml").write_text(GRAPH.replace("LINKS", f"'{project}/data/l.csv'"))
    scenario = SCENARIO.replace("PATH", "../data/m.csv").replace('"tiny"', '"../data/m.toml"')
    Path("scenarios/s.toml").write_text(scenario)
    assert odonata("run", "scenarios/s.toml", "-q", "-o", "run")[0] == 0
    status, _, err = odonata("archive", "run", "-o", "a.tar.gz")
    assert status == 2
    assert f"`{project}/data/l.csv`, which `run` was made from, cannot be put into an archive" in err
    assert not Path("a.tar.gz").exists()


def test_links_of_a_system_are_found_from_a_relative_scenario(odonata, project) -> None:
    """The links of a file of a system are relative to that file, wherever the command is started."""
    Path("scenarios/systems").mkdir()
    Path("scenarios/systems/l.csv").write_text(LINKS)
    Path("scenarios/systems/m.toml").write_text(GRAPH.replace("LINKS", '"l.csv"'))
    scenario = SCENARIO.replace("PATH", "../data/m.csv").replace('"tiny"', '"systems/m.toml"')
    Path("scenarios/s.toml").write_text(scenario)
    for path in ("scenarios/s.toml", str(project / "scenarios" / "s.toml")):
        status, _, err = odonata("run", path, "-q", "-o", "run", "--force")
        assert status == 0, err
