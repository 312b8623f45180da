"""The layers of the Python packages: who may import whom."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import odonata

PACKAGE = Path(odonata.__file__).parent
#: What may talk to the extension module: those who need a machine or a run, and `odonata --version`.
MAY_USE_CORE = {
    "__init__",
    "aries",
    "core_options",
    "runner",
    "machine",
    "cli/main",
    "cli/bench",
    "scenario/apps/collective",
    "scenario/apps/collectives",
    "scenario/routings/listed",
    "scenario/routings/routing",
}


def uses_core(source):
    """Whether a file imports `odonata._core` or anything out of it."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import) and any(name.name.startswith("odonata._core") for name in node.names):
            return True
        if isinstance(node, ast.ImportFrom):
            origin = node.module or ""
            if origin.startswith("odonata._core"):
                return True
            if (origin == "odonata" or node.level) and any(name.name == "_core" for name in node.names):
                return True
    return False


def test_imports_of_the_core_are_recognised():
    for source in ("import odonata._core", "from odonata import _core as c", "from odonata._core import run"):
        assert uses_core(source)
    assert not uses_core("from odonata import run")


def test_only_these_talk_to_the_core():
    users = [file.relative_to(PACKAGE).with_suffix("") for file in PACKAGE.rglob("*.py") if uses_core(file.read_text())]
    assert users
    assert [str(user) for user in users if not {user.parts[0], str(user)} & MAY_USE_CORE] == []


def test_layers_hold():
    linter = Path(sys.executable).with_name("lint-imports")
    done = subprocess.run([linter], capture_output=True, text=True, cwd=PACKAGE.parents[1])
    assert done.returncode == 0, done.stdout


def modules_in_a_circle(folder):
    """Modules of a folder that import each other, imports for types and inside functions included."""
    names = {file.stem for file in folder.glob("*.py")} - {"__init__"}
    package = ".".join(("odonata", *folder.relative_to(PACKAGE).parts))
    left = {}
    for name in names:
        nodes = [node for node in ast.walk(ast.parse((folder / f"{name}.py").read_text())) if hasattr(node, "module")]
        left[name] = {alias.name for node in nodes if node.module == package for alias in node.names} & names
        left[name] |= {(node.module or "").removeprefix(f"{package}.") for node in nodes} & names
    while free := {name for name, used in left.items() if not used & left.keys()}:
        left = {name: used for name, used in left.items() if name not in free}
    return sorted(left)


@pytest.mark.parametrize("room", ["background", "prediction", "recognition", "store", "text", "workload"])
def test_modules_of_a_room_do_not_import_each_other_in_a_circle(room):
    assert modules_in_a_circle(PACKAGE / room) == []


def test_circles_are_found(tmp_path, monkeypatch):
    monkeypatch.setattr(sys.modules[__name__], "PACKAGE", tmp_path)
    (tmp_path / "room").mkdir()
    for name, imports in (
        ("a", "from odonata.room import b"),
        ("b", "def f():\n    from odonata.room.c import x"),
        ("c", "if TYPE_CHECKING:\n    from odonata.room.a import y"),
        ("d", "from odonata.errors import InputError"),
    ):
        (tmp_path / "room" / f"{name}.py").write_text(imports)
    assert modules_in_a_circle(tmp_path / "room") == ["a", "b", "c"]


def test_no_module_imports_a_private_name_of_another():
    """Catches a helper that two commands share although its name says that it belongs to one."""
    private = [
        f"{file.relative_to(PACKAGE)}:{node.lineno} {name.name}"
        for file in PACKAGE.rglob("*.py")
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("odonata")
        for name in node.names
        if name.name.startswith("_") and name.name not in ("_core", "__version__")
    ]
    assert private == []
