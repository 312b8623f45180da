"""Importing the package and asking for help must not load the heavy libraries."""

import importlib
import inspect
import json
import pkgutil
import subprocess
import sys

import pytest

HEAVY = {"polars", "matplotlib", "scipy", "numpy", "pandas"}
BANNED = {"polars", "matplotlib", "scipy"}


def loaded(code):
    """Top-level modules that a fresh interpreter has loaded after the code."""
    script = f"{code}\nimport json, sys\nprint('\\n' + json.dumps(sorted({{m.split('.')[0] for m in sys.modules}})))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return set(json.loads(done.stdout.splitlines()[-1]))


def test_importing_the_package_loads_nothing_heavy():
    assert "odonata" in (modules := loaded("import odonata"))
    assert not HEAVY & modules


@pytest.mark.parametrize("arguments", [["--help"], ["run", "--help"], ["--version"]])
def test_help_loads_nothing_heavy(arguments):
    code = f"""
import sys
from odonata.cli.main import main
sys.argv = ["odonata", *{arguments!r}]
try:
    main()
except SystemExit as stop:
    assert not stop.code, stop.code
"""
    assert not BANNED & loaded(code)


def test_the_check_would_notice():
    assert "polars" in loaded("import polars")


def test_no_module_has_the_name_of_a_public_function():
    """The import system binds a module in its package, in the place of a function of the same name."""
    import odonata

    modules = {module.name for module in pkgutil.iter_modules(odonata.__path__)}
    shadowed = [name for name in modules & set(odonata.__all__) if not inspect.ismodule(getattr(odonata, name))]
    assert shadowed == []


@pytest.mark.parametrize("name", ["blame", "document", "machine", "placement", "scenario", "store"])
def test_packages_have_the_names_that_they_import_when_used(name):
    """Catches a name that a module no longer has, and a module that takes the place of a name."""
    package = importlib.import_module(f"odonata.{name}")
    modules = [module.name for module in pkgutil.walk_packages(package.__path__, f"odonata.{name}.")]
    for module in modules:
        importlib.import_module(module)
    assert [public for public in package.__all__ if inspect.ismodule(getattr(package, public))] == []
    with pytest.raises(AttributeError, match=f"module 'odonata.{name}' has no attribute 'nothing'"):
        package.nothing  # noqa: B018 - the access is the test


def test_every_public_name_can_be_had():
    import odonata

    missing = [name for name in odonata.__all__ if not hasattr(odonata, name)]
    assert missing == []
    assert sorted(odonata.__all__) == dir(odonata)


@pytest.mark.parametrize("as_given", [str, lambda path: path])
def test_a_scenario_can_be_run_by_its_path(tmp_path, as_given):
    import odonata

    path = tmp_path / "s.toml"
    path.write_text(
        'system = "tiny"\n[[job]]\nname = "a"\nnodes = 2\n'
        'app = { pattern = "tornado", offset = 1, message = "1 KB", interval = "1 us", messages = 1 }\n'
    )
    assert odonata.run(as_given(path)).id == odonata.run(odonata.load(path)).id


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (None, "expected a scenario, found `None`"),
        (3, "expected a scenario, found `3`"),
        ({"system": "tiny"}, "a scenario needs a job"),
    ],
)
def test_what_is_no_scenario_is_refused_in_our_words(given, said):
    import odonata

    with pytest.raises(odonata.InputError, match=said):
        odonata.run(given)


def test_an_unknown_name_is_an_attribute_error():
    import odonata

    with pytest.raises(AttributeError, match="`odonata` has no `nothing`"):
        odonata.nothing  # noqa: B018 - the access is the test
