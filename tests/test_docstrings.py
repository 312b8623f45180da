"""Every public name is documented in numpydoc's sections, and its examples give what they show."""

from __future__ import annotations

import doctest
import inspect
import re
import shutil
from functools import cached_property
from pathlib import Path

import matplotlib as mpl
import pytest

import odonata

EXAMPLES = Path(__file__).parents[1] / "examples"
ERRORS = ("InputError", "OdonataError", "RunError")


def documented(module=odonata, prefix=""):
    """Public functions, classes and modules by name, with what is public in those."""
    for short in module.__all__:
        name, thing = f"{prefix}{short}", getattr(module, short)
        if short == "__version__":
            continue
        yield name, thing
        if inspect.ismodule(thing):
            yield from documented(thing, f"{name}.")
        if inspect.isclass(thing) and name not in ERRORS:
            for method, what in vars(thing).items():
                function = what.func if isinstance(what, cached_property) else getattr(what, "fget", what)
                if not method.startswith("_") and inspect.isfunction(function):
                    yield f"{name}.{method}", what


PUBLIC = dict(documented())
#: Those whose arguments and results are to be documented.
FUNCTIONS = {name: thing for name, thing in PUBLIC.items() if inspect.isfunction(thing)}


def section(thing, title):
    """The lines under a heading of a docstring; None if it has no such heading."""
    match = re.search(rf"^{title}\n-+\n(.*?)(?=^\w[\w ]*\n-+\n|\Z)", inspect.getdoc(thing) or "", re.S | re.M)
    return None if match is None else match[1]


@pytest.mark.parametrize("name", PUBLIC)
def test_every_public_name_has_a_docstring_of_its_own(name):
    text = inspect.getdoc(PUBLIC[name])
    assert text
    assert text.partition("\n")[0].rstrip().endswith((".", ":"))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_parameter_result_and_error_is_documented(name):
    function = FUNCTIONS[name]
    signature = inspect.signature(function)
    parameters = [p for p in signature.parameters.values() if p.name != "self"]
    told = re.findall(r"^(\*{0,2}\w+)$", section(function, "Parameters") or "", re.M)
    assert told == [("**" if p.kind is p.VAR_KEYWORD else "") + p.name for p in parameters]
    if signature.return_annotation not in ("None", None):
        assert section(function, "Returns")


@pytest.mark.parametrize("name", [name for name in PUBLIC if "." not in name and name not in ERRORS])
def test_every_function_and_class_has_an_example_and_says_what_it_raises(name):
    assert section(PUBLIC[name], "Examples")
    if name in FUNCTIONS and name not in ("placements", "systems"):
        assert section(PUBLIC[name], "Raises")


@pytest.mark.parametrize("name", [name for name, thing in PUBLIC.items() if section(thing, "Examples")])
def test_examples_give_what_they_show(name, tmp_path, monkeypatch):
    shutil.copytree(EXAMPLES, tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    mpl.use("agg")
    parser, names = doctest.DocTestParser(), {"folder": tmp_path}
    example = parser.get_doctest(inspect.getdoc(PUBLIC[name]), names, name, None, None)
    report: list[str] = []
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    failed = runner.run(example, out=report.append).failed
    assert not failed, "".join(report)


def test_the_documentation_of_rust_has_no_examples():
    """Nobody would run them: without `doctest = false` cargo reads each crate once more to look for some."""
    files = list((EXAMPLES.parent / "crates").glob("*/src/**/*.rs"))
    assert len(files) > 100
    assert [file for file in files if re.search(r"^\s*//[/!].*```", file.read_text(), re.MULTILINE)] == []
