"""Random numbers in Python: splitmix64, written here so that no library can change a layout.

Source: Steele, Lea and Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014; the
constants are those of Vigna's public-domain `splitmix64.c`.
"""

import hashlib
from collections.abc import Iterable, Sequence
from typing import TypeVar

T = TypeVar("T")

_MASK = 2**64 - 1
_STEP = 0x9E3779B97F4A7C15
#: Number of draws from which on NumPy is faster; below it, importing NumPy takes longer than the draw.
_MANY = 100_000
#: A sample of less than this part of the items is drawn without a copy of all.
_FEW = 16


def stream_seed(seed: int, *names: str | int) -> int:
    """The seed of one stream of many that follow from a seed: 64 bits of SHA-256 over the seed and the stream's names.

    Streams that differ in anything are independent: what job 1 draws at seed s is not what job 0 draws at seed s + 1.
    """
    text = "\n".join(map(str, (seed, *names)))
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")


class SplitMix64:
    """A stream of 64-bit words; a seed always gives the same words."""

    def __init__(self, seed: int) -> None:
        self._state = seed & _MASK

    def word(self) -> int:
        """The next word, uniform in 0 .. 2^64 - 1."""
        self._state = (self._state + _STEP) & _MASK
        z = self._state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & _MASK
        return z ^ (z >> 31)

    def unit(self) -> float:
        """Uniform in [0, 1), from the upper 53 bits of a word."""
        return float((self.word() >> 11) * 2.0**-53)

    def below(self, n: int) -> int:
        """Uniform in 0 .. n - 1, without bias: words beyond the last multiple of n are drawn again."""
        limit = 2**64 - 2**64 % n
        while True:
            word = self.word()
            if word < limit:
                return word % n

    def sample(self, items: Sequence[T], count: int) -> list[T]:
        """`count` different items in random order: the first steps of a Fisher-Yates shuffle.

        Step i swaps item i with item `i + below(len(items) - i)`. The items given are not changed.
        """
        if count < len(items) // _FEW:
            return self._sample_few(items, count)
        pool = list(items)
        for i, j in enumerate(self._steps(len(pool), count)):
            pool[i], pool[j] = pool[j], pool[i]
        return pool[:count]

    def _sample_few(self, items: Sequence[T], count: int) -> list[T]:
        """The same without a copy of all items: `moved` holds the items that have left their own place."""
        moved: dict[int, int] = {}
        drawn = []
        for i, j in enumerate(self._steps(len(items), count)):
            drawn.append(items[moved.get(j, j)])
            moved[j] = moved.get(i, i)
        return drawn

    def shuffled(self, items: Sequence[T]) -> list[T]:
        """All items in random order."""
        return self.sample(items, len(items))

    def _steps(self, size: int, count: int) -> Iterable[int]:
        """The partner of item i in step i of a shuffle."""
        if count >= _MANY:
            steps = self._many_steps(size, count)
            if steps is not None:
                return steps
        return (i + self.below(size - i) for i in range(count))

    def _many_steps(self, size: int, count: int) -> list[int] | None:
        """The same with whole arrays; None if a word must be drawn again, which almost never happens."""
        import numpy as np

        bounds = np.arange(size, size - count, -1, dtype=np.uint64)
        z = np.arange(1, count + 1, dtype=np.uint64) * np.uint64(_STEP) + np.uint64(self._state)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        z ^= z >> np.uint64(31)
        # 2^64 mod n in 64 bits: (2^64 - 1) mod n, plus one, mod n. A word below 2^64 minus that is good.
        rest = (np.uint64(_MASK) % bounds + np.uint64(1)) % bounds
        if np.any(z > np.uint64(_MASK) - rest):
            return None
        self._state = (self._state + count * _STEP) & _MASK
        steps: list[int] = (z % bounds + np.arange(count, dtype=np.uint64)).tolist()
        return steps
