"""The performance model of Cray's Aries, and application-aware routing: which mode the next message should use.

The functions call the component that also serves C programs and the shim for sockets
(`docs/application-aware.md`). All times are cycles of the NIC, in which it sends at most one flit.

Examples
--------
A PUT of 4 KiB with a latency of 2000 cycles and 1.5 stalled cycles per flit:

>>> import odonata as od
>>> od.aries.transmission_time(4096, latency=2000, stalls=1.5)
1925.0

High bias has a lower latency but more stalls. It is better for small messages:

>>> [od.aries.prefer_high_bias(size, default=(3000, 1), high_bias=(2000, 2)) for size in (4096, 16384)]
[True, False]
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, ParamSpec, TypeVar

from odonata import _core
from odonata.errors import InputError, nearest

if TYPE_CHECKING:
    from collections.abc import Callable

_P = ParamSpec("_P")
_R = TypeVar("_R")

__all__ = ["Counters", "Decision", "Policy", "policies", "prefer_high_bias", "transmission_time"]

#: The modes by the numbers of the core.
_MODES = {0: "ADAPTIVE_0", 1: "ADAPTIVE_1", 3: "ADAPTIVE_3"}
_NUMBERS = {name: number for number, name in _MODES.items()}


class Counters(NamedTuple):
    """What a NIC counted for a message (De Sensi 2019, section 2.3).

    Attributes
    ----------
    request_flits : int
        Request flits that were sent.
    stalled_cycles : int
        Cycles in which a flit was ready and was not forwarded.
    request_packets : int
        Request packets that were sent.
    latency_cycles : int
        Sum over the packets of the time from request to response. The hardware counts microseconds: multiply by the
        clock in MHz.

    Examples
    --------
    >>> import odonata as od
    >>> od.aries.Counters(request_flits=320, stalled_cycles=480, request_packets=64, latency_cycles=128_000)
    Counters(request_flits=320, stalled_cycles=480, request_packets=64, latency_cycles=128000)
    """

    request_flits: int
    stalled_cycles: int
    request_packets: int
    latency_cycles: int


class Decision(NamedTuple):
    """What to do with a message.

    Attributes
    ----------
    mode : str
        `ADAPTIVE_0` (no bias), `ADAPTIVE_1` (for all-to-all) or `ADAPTIVE_3` (high bias).
    observe : bool
        Whether the policy asks for counters: those of this message, or for `app-aware` those of the NIC, right after
        the message was handed to it.

    Examples
    --------
    >>> import odonata as od
    >>> od.aries.Policy("high-bias").select(100)
    Decision(mode='ADAPTIVE_3', observe=False)
    """

    mode: str
    observe: bool


def policies() -> list[str]:
    """Names of the policies.

    Returns
    -------
    list of str
        `default` and `high-bias` never change the mode; `app-aware` is what the library of De Sensi 2019 does;
        `app-aware-continuous` is Algorithm 1 of the paper with learned factors; `app-aware-h` does not oscillate;
        `bandit` explores.

    Examples
    --------
    >>> import odonata as od
    >>> od.aries.policies()
    ['default', 'high-bias', 'app-aware', 'app-aware-continuous', 'app-aware-h', 'bandit']
    """
    return _core.routing_policies()


def transmission_time(
    size: int, *, latency: float, stalls: float, get: bool = False, outstanding: int | None = 1024
) -> float:
    """The time from the call to the last flit at the receiver's NIC (De Sensi 2019, equations 1 and 2).

    Parameters
    ----------
    size
        Bytes of the message.
    latency
        Mean time from request to response of a packet, in cycles.
    stalls
        Mean number of cycles that a flit waits.
    get
        Whether the message is a GET. Its requests have one flit, those of a PUT a header and up to four of data.
    outstanding
        Packets that may be outstanding. None for no limit, which is equation 1. The default is that of Aries.

    Returns
    -------
    float
        The time in cycles.

    Raises
    ------
    InputError
        If a number is negative, too large or not a number.

    Examples
    --------
    >>> import odonata as od
    >>> od.aries.transmission_time(4096, latency=2000, stalls=1.5, outstanding=None)
    1800.0
    """
    limit = 0 if outstanding is None else _integer("outstanding", outstanding, 32, least=1)
    return _checked(_core.transmission_time, _integer("size", size), _real(latency), _real(stalls), bool(get), limit)


def prefer_high_bias(
    size: int, *, default: tuple[float, float], high_bias: tuple[float, float], get: bool = False
) -> bool:
    """Whether a message takes less time with high bias than with the default mode (De Sensi 2019, equation 3).

    Equation 4 of the paper is equation 3 for more stalls with high bias. This function is right for every sign.

    Parameters
    ----------
    size
        Bytes of the message.
    default
        Latency (cycles) and stalls (cycles per flit) with the default mode.
    high_bias
        The same with high bias.
    get
        Whether the message is a GET.

    Returns
    -------
    bool
        False if both take the same time.

    Raises
    ------
    InputError
        If a number is negative, too large or not a number.

    Examples
    --------
    >>> import odonata as od
    >>> od.aries.prefer_high_bias(1 << 20, default=(3000, 2), high_bias=(2000, 1))
    True
    """
    first, second = ((_real(latency), _real(stalls)) for latency, stalls in (default, high_bias))
    return _checked(_core.prefer_high_bias, _integer("size", size), first, second, bool(get))


class Policy:
    """Selects the routing mode of each message from the counters of earlier messages.

    Call `select` before each message. If the decision asks for counters, hand those of the message to `observe`.

    Parameters
    ----------
    name
        One of `policies`.
    threshold
        Bytes that must add up before a decision. Until then messages use high bias, and no counter is read. 4 KiB is
        the number of the paper.
    sample_age
        Decisions after which an observation is too old, for `app-aware-continuous`, `app-aware-h` and `bandit`.
        Assumed.
    latency_ratio, stall_ratio
        Latency and stalls with high bias, divided by those with the default mode: lambda and sigma of the paper, until
        they are learned, for `app-aware-continuous` and `app-aware-h`. Assumed.
    margin
        `app-aware-h`: the share of the time that a change must save. Assumed.
    dwell
        `app-aware-h`: observed messages between two changes. Assumed.
    seed, stream
        `bandit`: its random numbers. Policies with different streams draw different numbers.

    Raises
    ------
    InputError
        If there is no policy of that name, or a number is out of range.

    Examples
    --------
    The first message uses the default mode. It meets no stalls but a latency, so the next one uses high bias.

    >>> import odonata as od
    >>> policy = od.aries.Policy("app-aware")
    >>> mode, observe = policy.select(8192)
    >>> mode, observe
    ('ADAPTIVE_0', True)
    >>> policy.observe(mode, od.aries.Counters(640, 0, 128, 256_000))
    >>> policy.select(8192).mode
    'ADAPTIVE_3'
    """

    def __init__(
        self,
        name: str = "app-aware",
        *,
        threshold: int = 4096,
        sample_age: int = 64,
        latency_ratio: float = 0.8,
        stall_ratio: float = 1.3,
        margin: float = 0.05,
        dwell: int = 8,
        seed: int = 0,
        stream: int = 0,
    ) -> None:
        if name not in policies():
            near = nearest(str(name), policies())
            hint = f"did you mean `{near}`?" if near else f"choose one of {', '.join(policies())}"
            raise InputError(f"unknown routing policy `{name}`", hint=hint)
        self.name = name
        self._core = _checked(
            _core.RoutingPolicy,
            name,
            threshold=_integer("threshold", threshold),
            sample_age=_integer("sample_age", sample_age, 32, least=1),
            latency_ratio=_real(latency_ratio),
            stall_ratio=_real(stall_ratio),
            margin=_real(margin),
            dwell=_integer("dwell", dwell, 32),
            seed=_integer("seed", seed),
            stream=_integer("stream", stream),
        )

    def select(
        self, size: int, *, get: bool = False, alltoall: bool = False, peer: int = 0, control: bool = False
    ) -> Decision:
        """The mode of the next message.

        Parameters
        ----------
        size
            Bytes of the message.
        get
            Whether it is a GET.
        alltoall
            Whether it belongs to an all-to-all. Cray MPI sends those with ADAPTIVE_1 in place of ADAPTIVE_0.
        peer
            Any number of the endpoint that it goes to. `app-aware` remembers what it has seen only for the same
            endpoint and size; other policies do not read it.
        control
            Whether it only controls other messages (a request to send, for example). `app-aware` sends those with high
            bias and does not add up their sizes; other policies do not read it.

        Returns
        -------
        Decision
            The mode, and whether to read the counters.
        """
        where = _integer("peer", peer)
        mode, observe = self._core.select(_integer("size", size), bool(get), bool(alltoall), where, bool(control))
        return Decision(_MODES[mode], observe)

    def observe(self, mode: str, counters: Counters) -> None:
        """Takes in what the NIC counted for a message. Counters without a packet or a flit are ignored.

        Parameters
        ----------
        mode
            The mode that the message was sent with. `app-aware` does not read it: its counters belong to the mode of
            its last decision.
        counters
            The differences of the counters after and before the message. For `app-aware`: those of the NIC since they
            were last read, with the stalled cycles of requests less those of responses (at least 0).
        """
        if mode not in _NUMBERS:
            raise InputError(f"unknown routing mode `{mode}`", hint=f"choose one of {', '.join(_NUMBERS)}")
        values = (_integer(name, value) for name, value in zip(Counters._fields, counters, strict=True))
        self._core.observe(_NUMBERS[mode], *values)

    @property
    def factors(self) -> tuple[float, float] | None:
        """The present ratios of latency and of stalls, high bias to default; None for a policy without."""
        return self._core.factors()

    def __repr__(self) -> str:
        return f"Policy({self.name!r})"


def _integer(name: str, value: Any, bits: int = 64, least: int = 0) -> int:
    try:
        number = value.__index__()
    except (AttributeError, TypeError):
        number = None
    if number is None or isinstance(value, bool) or not least <= number < 1 << bits:
        raise InputError(f"expected an integer from {least} to 2^{bits} - 1 for `{name}`, found `{value!r}`")
    return int(number)


def _real(value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"expected a number, found `{value!r}`") from None


def _checked(function: Callable[_P, _R], *values: _P.args, **named: _P.kwargs) -> _R:
    try:
        return function(*values, **named)
    except ValueError as error:
        raise InputError(str(error)) from None
