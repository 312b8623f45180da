"""Models of tables: what keys there are, and errors that name the key, not the model."""

from collections.abc import Mapping
from typing import Any, ClassVar, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError, model_validator
from pydantic_core import ErrorDetails

from odonata.document.quantities import problem
from odonata.errors import InputError, nearest, unknown

M = TypeVar("M", bound="Table")


class Table(BaseModel):
    """Base of all models of documents: immutable, no unknown keys, no silent conversions."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        strict=True,
        populate_by_name=False,
        hide_input_in_errors=True,
        arbitrary_types_allowed=True,
        defer_build=True,
    )

    #: Keys that users look for here and that stand elsewhere -> the hint that says where.
    elsewhere: ClassVar[Mapping[str, str]] = {}

    @model_validator(mode="before")
    @classmethod
    def _known_keys_only(cls, data: Any) -> Any:
        if not isinstance(data, Mapping):
            raise problem(f"expected a table, found `{data!r}`")
        known = [field.alias or name for name, field in cls.model_fields.items()]
        for key in data:
            if key not in known:
                error = unknown("key", str(key), known)
                near = nearest(str(key), [*known, *cls.elsewhere]) or ""
                raise problem(error.message, cls.elsewhere.get(near, error.hint), (str(key),))
        for name, field in cls.model_fields.items():
            key = field.alias or name
            if field.is_required() and key not in data:
                raise problem(f"missing key `{key}`", field.description)
        return data


def validate(model: type[M], data: Mapping[str, Any]) -> M:
    """The data as an instance of the model.

    Raises InputError for the first thing that is wrong, in the order of the model; its `path` leads to
    the value (or, for a missing key, to the table that lacks it).
    """
    try:
        return model.model_validate(data)
    except ValidationError as e:
        raise _input_error(e.errors(include_url=False)[0], data) from None


def _input_error(error: ErrorDetails, data: Mapping[str, Any]) -> InputError:
    path = _path_in(data, error["loc"])
    context = error.get("ctx", {})
    if error["type"] == "odonata":
        deeper = tuple(context["path"])
        message = context["message"] if deeper else _named(path) + context["message"]
        return InputError(message, hint=context["hint"], path=(*path, *deeper))
    if error["type"] == "literal_error":
        return _not_one_of(str(context["expected"]), error["input"], path)
    expected = {
        "string_type": "a text",
        "int_type": "a whole number",
        "bool_type": "`true` or `false`",
        "tuple_type": "a list",
        "list_type": "a list",
        "dict_type": "a table",
        "greater_than_equal": f"a number from {context.get('ge')} on",
        "greater_than": f"a number above {context.get('gt')}",
        "less_than_equal": f"a number of at most {context.get('le')}",
        "less_than": f"a number below {context.get('lt')}",
    }.get(error["type"])
    if expected is None:
        message = f"{_named(path)}{error['msg'][:1].lower()}{error['msg'][1:]}"
        return InputError(message, path=path)
    shown = _show(error["input"])
    return InputError(f"{_named(path)}expected {expected}, found {shown}", path=path)


def _not_one_of(expected: str, given: Any, path: tuple[str | int, ...]) -> InputError:
    names = [part.strip(" '") for part in expected.replace(" or ", ", ").split(",")]
    if not isinstance(given, str):
        message = f"{_named(path)}expected one of {', '.join(names)}, found {_show(given)}"
        return InputError(message, path=path)
    message = f"{_named(path)}expected {expected.replace(chr(39), '`')}, found `{given}`"
    near = nearest(given, names)
    return InputError(message, hint=near and f"did you mean `{near}`?", path=path)


def _named(path: tuple[str | int, ...]) -> str:
    """The last key of a path, as the beginning of a message."""
    key = next((step for step in reversed(path) if isinstance(step, str)), None)
    return "" if key is None else f"`{key}`: "


def _path_in(data: Mapping[str, Any], location: tuple[int | str, ...]) -> tuple[str | int, ...]:
    """The part of a model's location that exists in the data.

    A location also holds the tags of unions, which are no keys; they are passed over.
    """
    path: tuple[str | int, ...] = ()
    here: Any = data
    for step in location:
        inside = isinstance(here, Mapping) and step in here
        inside = inside or (isinstance(here, list | tuple) and isinstance(step, int))
        if inside:
            here, path = here[step], (*path, step)
    return path


def _show(value: Any) -> str:
    return f"`{value}`" if isinstance(value, str) else f"`{value!r}`"
