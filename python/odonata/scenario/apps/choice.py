"""An application in a scenario: a pattern, a collective, a motif, a trace, a matrix or the training of a model."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BeforeValidator, SerializeAsAny

from odonata.document import input_error_as_problem, validate
from odonata.errors import InputError, nearest, shortened
from odonata.scenario.apps.app import App
from odonata.scenario.apps.listed import FILES, KINDS, TABLES, named, own_name


def read_app(value: Any) -> App:
    """The application that a table describes. Raises InputError, whose path leads into the table."""
    if isinstance(value, App):
        return value
    keys = [*KINDS, *FILES, *TABLES]
    listed = ", ".join(f"`{key}`" for key in keys[:-1]) + f" or `{keys[-1]}`"
    if not isinstance(value, Mapping):
        hint = None
        if isinstance(value, list | tuple):
            hint = 'several one after the other are phases: app = { motif = "phases", phases = [...] }'
        elif isinstance(value, str):
            hint = next((f'write app = {{ {kind} = "{value}" }}' for kind in KINDS if value in KINDS[kind]), None)
        raise InputError(f"expected a table with {listed}, found `{shortened(repr(value))}`", hint=hint)
    given = [key for key in keys if key in value]
    if not given:
        near = next((f"did you mean `{n}`?" for key in value if (n := nearest(str(key), keys))), None)
        raise InputError(f"missing key: {listed}", hint=near or "`odonata show` lists all names")
    if len(given) > 1:
        raise InputError(f"`{given[0]}` and `{given[1]}` exclude each other", path=(given[1],))
    key, name = given[0], value[given[0]]
    if key in FILES or key in TABLES:
        return validate(FILES[key] if key in FILES else TABLES[key], value)
    name = own_name(key, name)
    return validate(named(key, name, KINDS), {**value, key: name})


if TYPE_CHECKING:
    AnyApp = App
else:
    #: An application as a scenario gives it.
    AnyApp = Annotated[SerializeAsAny[App], BeforeValidator(input_error_as_problem(read_app))]
