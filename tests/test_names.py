"""Names that say what a thing is."""

import ast
from pathlib import Path

import odonata

PACKAGE = Path(odonata.__file__).parent
#: Words that could name anything.
REFUSED = {"found", "one"}
#: Its functions take the parameters of errors of the core by their names.
OF_ERRORS = {"messages.py"}


def bound(source):
    """(Line, name) of every variable, argument, attribute, function, class and import that a file binds."""
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Name(id=name, ctx=ast.Store()) | ast.Attribute(attr=name, ctx=ast.Store()) | ast.arg(arg=name):
                yield node.lineno, name
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                yield node.lineno, name
            case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
                yield node.lineno, name
            case ast.MatchMapping(rest=str(name)):
                yield node.lineno, name
            case ast.alias(name=name, asname=other):
                yield node.lineno, other or name


def test_every_way_to_bind_a_name_is_seen():
    for source in (
        "one = 1",
        "one: int",
        "for one in (): pass",
        "self.one = 1",
        "[0 for one in ()]",
        "(one := 1)",
        "def one(): pass",
        "async def one(): pass",
        "class one: pass",
        "lambda one: 0",
        "def f(*, one): pass",
        "def f(*one): pass",
        "with x as one: pass",
        "import one",
        "from x import y as one",
        "try: pass\nexcept OSError as one: pass",
        "match x:\n case [one]: pass",
        "match x:\n case [*one]: pass",
        "match x:\n case {**one}: pass",
    ):
        assert "one" in {name for _, name in bound(source)}, source


def test_no_name_could_mean_anything():
    files = sorted(PACKAGE.rglob("*.py"))
    assert files
    vague = [
        f"{file.relative_to(PACKAGE)}:{line} {name}"
        for file in files
        for line, name in bound(file.read_text(encoding="utf-8"))
        if name in REFUSED and file.name not in OF_ERRORS
    ]
    assert vague == []
