"""Random numbers for placement: splitmix64, written out so that no library can change a layout.

Source: Steele, Lea and Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014; the
constants are those of Vigna's public-domain `splitmix64.c`.
"""

_MASK = 2**64 - 1


class SplitMix64:
    """A stream of 64-bit words; the same seed gives the same words for ever."""

    def __init__(self, seed: int) -> None:
        self._state = seed & _MASK

    def word(self) -> int:
        """The next word, uniform in 0 .. 2^64 - 1."""
        self._state = (self._state + 0x9E3779B97F4A7C15) & _MASK
        z = self._state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & _MASK
        return z ^ (z >> 31)

    def below(self, n: int) -> int:
        """Uniform in 0 .. n - 1, without bias: words beyond the last multiple of n are drawn anew."""
        limit = 2**64 - 2**64 % n
        while True:
            word = self.word()
            if word < limit:
                return word % n

    def sample(self, items: list[int], count: int) -> list[int]:
        """`count` different items in random order: the first steps of a Fisher-Yates shuffle.

        Step i swaps item i with item `i + below(len(items) - i)`. The list given is not changed.
        """
        pool = list(items)
        for i in range(count):
            j = i + self.below(len(pool) - i)
            pool[i], pool[j] = pool[j], pool[i]
        return pool[:count]
