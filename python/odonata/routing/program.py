"""A routing of one's own for a machine: from a file to functions that the core knows.

A specification has all that is needed to repeat it: `own_routings` has the text of each file, by the name under which
the core knows its functions. The name is a hash of the text, its parameters and the sizes of the machine, because they
decide what the functions do.
"""

from __future__ import annotations

import ast
import ctypes
import hashlib
import json
import os
import sys
import tempfile
import traceback
from base64 import b64decode
from dataclasses import asdict, dataclass
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from odonata.errors import InputError, OdonataError, unknown
from odonata.routing.decorator import OwnRouting

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_KEPT: dict[str, Any] = {}
"""Functions that the core knows, by name: they must stay where they are."""

REFUSE = "ODONATA_REFUSE_OWN_ROUTINGS"
"""The environment variable with which, if it is not empty, no file of a routing is run but those of the package."""
LIBRARY = ("odonata_route", "odonata_start", "odonata_learn")
"""Functions of a library of which only the first must be there."""


@dataclass(frozen=True)
class Program:
    """A routing of one's own on a machine, as a specification has it."""

    file: str
    """Name of the file, for errors."""
    text: str
    """Its text; of a library its bytes in base 64."""
    library: bool
    hops: int
    """Most links of a path."""
    state: int
    """Numbers of each router."""
    function: str | None
    """The routing of the file, if it has several."""
    parameters: dict[str, float]
    extent: dict[str, int]
    keys: str = "packet"
    """Which packets have the same key."""

    @property
    def name(self) -> str:
        """The name under which the core knows its functions."""
        decides = {key: value for key, value in self.kept().items() if key != "file"}
        return hashlib.sha256(json.dumps(decides, sort_keys=True).encode()).hexdigest()[:32]

    def spec(self) -> dict[str, Any]:
        """The routing as the core reads it, without its text."""
        keys = {} if self.keys == "packet" else {"keys": self.keys}
        return {"name": "custom", "program": self.name, "hops": self.hops, "state": self.state, **keys}

    def kept(self) -> dict[str, Any]:
        """What a specification keeps under its name."""
        return asdict(self)


@lru_cache(maxsize=16)
def own_routings(text: str, file: str) -> dict[str, OwnRouting]:
    """The routings that a file defines, by their names. It is run for this.

    Raises InputError with the file and the line.
    """
    _allowed(text, file)
    names: dict[str, Any] = {"__name__": "odonata_own_routing", "__file__": file}
    try:
        _alone(ast.parse(text, file))
        exec(compile(text, file, "exec"), names)
    except SyntaxError as e:
        raise InputError(f"it is no Python: {e.msg}", file=Path(file), line=e.lineno) from None
    except InputError as e:
        raise e.at(Path(file), e.line) from None
    except OdonataError:
        raise
    except (Exception, SystemExit) as e:  # whatever the file raises is told
        lines = [frame.lineno for frame in traceback.extract_tb(e.__traceback__) if frame.filename == file]
        raise InputError(f"{type(e).__name__}: {e}", file=Path(file), line=lines[-1] if lines else None) from None
    return {name: value for name, value in names.items() if isinstance(value, OwnRouting)}


def _alone(tree: ast.AST) -> None:
    """Raises InputError for a file that imports others of the user: their contents would not be in a run's identity."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            modules = [name.name for name in node.names]
        elif isinstance(node, ast.ImportFrom):
            modules = ["." * node.level + (node.module or "")]
        else:
            continue
        for module in modules:
            if module.partition(".")[0] not in {*sys.stdlib_module_names, "numba", "numpy", "odonata"}:
                hint = "a run is identified by the text of one file: put it into this one"
                raise InputError(f"it imports `{module}`", hint=hint, line=node.lineno)


def _allowed(text: str, file: str) -> None:
    """Raises InputError for a file of somebody else where these are refused."""
    own = [of for of in files("odonata.routing").joinpath("files").iterdir() if of.name.endswith(".py")]
    if os.environ.get(REFUSE) and all(text != of.read_text("utf-8") for of in own):
        raise InputError(
            f"the routing `{file}` is a program, and `{REFUSE}` is set",
            hint="read the file; `odonata archive --check --trust` runs those of an archive",
        )


def the_routing(text: str, file: str, function: str | None) -> OwnRouting:
    """The routing of a file. Raises InputError if there is none, or several and no name."""
    defined = own_routings(text, file)
    if function is not None:
        if function not in defined:
            error = unknown("routing of the file", function, defined)
            raise InputError(error.message, hint=error.hint, path=("function",))
        return defined[function]
    if len(defined) == 1:
        return next(iter(defined.values()))
    if not defined:
        hint = "write `from odonata.routing import routing`, and `@routing` above a function (docs/own-routing.md)"
        raise InputError("the file has no function with the decorator `routing`", hint=hint, file=Path(file))
    names = ", ".join(defined)
    raise InputError(f"`{file}` has several routings: {names}", hint="name one: function = ...", path=("function",))


def make_known(kept: Mapping[str, Mapping[str, Any]], add: Callable[..., None]) -> None:
    """Makes the functions of the routings of a specification known to the core, each once in a process.

    `add` is `add_routing` of the core.

    Raises InputError for a file that cannot be compiled, or a library that cannot be loaded.
    """
    for name, of in kept.items():
        if name in _KEPT:
            continue
        program = Program(**of)
        functions, addresses = _loaded(program) if program.library else _compiled(program)
        _KEPT[name] = functions
        add(name, *addresses)


def _compiled(program: Program) -> tuple[Any, list[int]]:
    try:
        from odonata.routing.compiled import compiled
    except ImportError as e:
        hint = 'pip install "odonata[routing]"'
        raise InputError(f"a routing in Python needs Numba ({e})", hint=hint, path=("python",)) from None
    own = the_routing(program.text, program.file, program.function)
    try:
        functions = compiled(own, own.shapes_on(program.extent), program.parameters)
    except InputError as e:
        raise e.at(Path(program.file), e.line) from None
    return functions, [functions[key].address if key in functions else 0 for key in ("route", "start", "learn")]


def _loaded(program: Program) -> tuple[Any, list[int]]:
    _allowed(program.text, program.file)
    with tempfile.NamedTemporaryFile(suffix=".so", delete=False) as file:
        file.write(b64decode(program.text))
    try:
        library = ctypes.CDLL(file.name)
    except OSError as e:
        message = str(e).replace(file.name, program.file)
        raise InputError(f"it cannot be loaded: {message}", file=Path(program.file)) from None
    finally:
        Path(file.name).unlink()
    addresses = []
    for name in LIBRARY:
        function = getattr(library, name, None)
        addresses.append(0 if function is None else ctypes.cast(function, ctypes.c_void_p).value or 0)
    if not addresses[0]:
        hint = f"it exports `{LIBRARY[0]}` as odonata_routing.h declares it"
        raise InputError(f"the library has no function `{LIBRARY[0]}`", hint=hint, file=Path(program.file))
    return library, addresses
