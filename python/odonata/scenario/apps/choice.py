"""An application in a scenario: a pattern, a collective, a motif, a trace, a matrix or the training of a model."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BeforeValidator, SerializeAsAny

from odonata.document import input_error_as_problem, validate
from odonata.errors import InputError, nearest, unknown
from odonata.scenario.apps.app import App, Program
from odonata.scenario.apps.chakra import Chakra
from odonata.scenario.apps.collectives import COLLECTIVES
from odonata.scenario.apps.matrix import Matrix
from odonata.scenario.apps.motifs import MOTIFS
from odonata.scenario.apps.patterns import PATTERNS
from odonata.scenario.apps.serve import Serve
from odonata.scenario.apps.trace import Trace
from odonata.scenario.apps.train import Train

#: The key that names a file -> what is read from it.
FILES: dict[str, type[Program]] = {"trace": Trace, "matrix": Matrix, "chakra": Chakra}
#: The key that holds a table of its own -> what is read from it.
TABLES: dict[str, type[Program]] = {"train": Train, "serve": Serve}
#: The key that says what kind of application a table is -> all of the kind by name.
KINDS: dict[str, Mapping[str, type[App]]] = {"pattern": PATTERNS, "collective": COLLECTIVES, "motif": MOTIFS}


def read_app(value: Any) -> App:
    """The application that a table describes. Raises InputError, whose path leads into the table."""
    if isinstance(value, App):
        return value
    keys = [*KINDS, *FILES, *TABLES]
    listed = ", ".join(f"`{key}`" for key in keys[:-1]) + f" or `{keys[-1]}`"
    if not isinstance(value, Mapping):
        raise InputError(f"expected a table with {listed}, found `{value!r}`")
    given = [key for key in keys if key in value]
    if not given:
        near = next((f"did you mean `{n}`?" for key in value if (n := nearest(str(key), keys))), None)
        raise InputError(f"missing key: {listed}", hint=near or "`odonata show` lists all names")
    if len(given) > 1:
        raise InputError(f"`{given[0]}` and `{given[1]}` exclude each other", path=(given[1],))
    key, name = given[0], value[given[0]]
    if key in FILES or key in TABLES:
        return validate((FILES | TABLES)[key], value)
    table = KINDS[key]
    if not isinstance(name, str):
        raise InputError(f"expected the name of a {key}, found `{name!r}`", path=(key,))
    if name not in table:
        other = next((kind for kind in KINDS if name in KINDS[kind]), None)
        error = unknown(key, name, table)
        hint = f'`{name}` is a {other}: {other} = "{name}"' if other else error.hint
        raise InputError(error.message, hint=hint, path=(key,))
    return validate(table[name], value)


if TYPE_CHECKING:
    AnyApp = App
else:
    #: An application as a scenario gives it.
    AnyApp = Annotated[SerializeAsAny[App], BeforeValidator(input_error_as_problem(read_app))]
