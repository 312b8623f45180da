"""Grids of ranks: as given, or as square as possible."""

from collections.abc import Callable, Iterator
from functools import lru_cache
from math import prod
from typing import Annotated, Any

from pydantic import BeforeValidator

from odonata.document import input_error_as_problem
from odonata.errors import InputError


@lru_cache(maxsize=256)
def dims_create(ranks: int, dimensions: int) -> tuple[int, ...]:
    """Extents of a grid of that many ranks, falling, as close to each other as possible.

    The specified result of MPI_Dims_create (MPI 4.1, section 8.5.2): the lexicographically smallest of all falling
    sequences with that product (Träff and Lübbe 2015, "Specification guideline violations by MPI_Dims_create").
    """
    return min(_falling(ranks, dimensions, ranks))


def _falling(product: int, count: int, most: int) -> Iterator[tuple[int, ...]]:
    """All falling sequences of `count` numbers up to `most` with that product."""
    if count == 1:
        if product <= most:
            yield (product,)
        return
    for first in _divisors(product):
        # What follows is no larger, so `first` must not be too small either.
        if first <= most and first**count >= product:
            for rest in _falling(product // first, count - 1, first):
                yield (first, *rest)


def _divisors(number: int) -> list[int]:
    small = [d for d in range(1, int(number**0.5) + 1) if number % d == 0]
    return sorted({*small, *(number // d for d in small)})


def _extents(count: int, what: str) -> Callable[[Any], tuple[int, ...]]:
    names = {2: "two", 3: "three", 4: "four"}[count]
    example = list((4, 4, 2, 2)[:count])

    def read(value: Any) -> tuple[int, ...]:
        right = isinstance(value, list | tuple) and len(value) == count
        if not right or not all(type(n) is int and 1 <= n < 2**31 for n in value):
            raise InputError(f"expected {names} {what}, such as {example}, found `{value!r}`")
        return tuple(value)

    return read


#: Ranks along two, three and four axes, the first fastest.
Grid2 = Annotated[tuple[int, ...], BeforeValidator(input_error_as_problem(_extents(2, "numbers of ranks")))]
Grid3 = Annotated[tuple[int, ...], BeforeValidator(input_error_as_problem(_extents(3, "numbers of ranks")))]
Grid4 = Annotated[tuple[int, ...], BeforeValidator(input_error_as_problem(_extents(4, "numbers of ranks")))]
#: Cells along two, three and four axes.
Cells2 = Annotated[tuple[int, ...], BeforeValidator(input_error_as_problem(_extents(2, "numbers of cells")))]
Cells3 = Annotated[tuple[int, ...], BeforeValidator(input_error_as_problem(_extents(3, "numbers of cells")))]
Cells4 = Annotated[tuple[int, ...], BeforeValidator(input_error_as_problem(_extents(4, "numbers of cells")))]


def decided_grid(given: tuple[int, ...] | None, ranks: int, dimensions: int) -> tuple[int, ...]:
    """The grid given, if it has as many points as there are ranks, or that of `dims_create`.

    Raises InputError (path `grid`).
    """
    usual = dims_create(ranks, dimensions)
    if given is None:
        return usual
    if prod(given) != ranks:
        raise InputError(
            f"a grid of {by(given)} has {prod(given):,} points for {ranks:,} ranks",
            hint=f"{by(usual)} would fit",
            path=("grid",),
        )
    return given


def by(extents: tuple[int, ...]) -> str:
    """A grid as text: `4 x 3 x 2`."""
    return " x ".join(str(extent) for extent in extents)
