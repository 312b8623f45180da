"""Names that are imported when they are first used, so that a command loads only what it needs."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

T = TypeVar("T")


def lazily(package: str, modules: Mapping[str, tuple[str, ...]]) -> Callable[[str], Any]:
    """Make the `__getattr__` of a package from its modules and the public names that each of them has.

    A module must not have one of these names, because the import system binds it in the package.
    """
    where = {name: module for module, names in modules.items() for name in names}

    def get(name: str) -> Any:
        if name not in where:
            raise AttributeError(f"module {package!r} has no attribute {name!r}", name=name, obj=sys.modules[package])
        value = getattr(import_module(f"{package}.{where[name]}"), name)
        setattr(sys.modules[package], name, value)
        return value

    return get


class ByName(Mapping[str, T]):
    """Values by name, for what a scenario can name. A value is imported when it is looked up; names need no import."""

    def __init__(self, package: str, where: Mapping[str, str]) -> None:
        """`where` has the place of each value inside the package: `MODULE.NAME`."""
        self._package = package
        self.where = dict(where)

    def __getitem__(self, name: str) -> T:
        module, _, attribute = self.where[name].rpartition(".")
        value: T = getattr(import_module(f"{self._package}.{module}"), attribute)
        return value

    def __iter__(self) -> Iterator[str]:
        return iter(self.where)

    def __len__(self) -> int:
        return len(self.where)

    def __contains__(self, name: object) -> bool:
        return name in self.where
