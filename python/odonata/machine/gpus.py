"""The GPUs of a node and the network between them, as a table of a document (docs/model.md, section 10, "GPUs")."""

from itertools import combinations
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field

from odonata import units
from odonata.core_options import LIMITS
from odonata.document import Bandwidth, Table, input_error_as_problem
from odonata.errors import InputError
from odonata.machine.fabric import Delay

#: Most GPUs of a node.
MAX_GPUS = LIMITS["gpus"]
#: Most links side by side between two GPUs. (NVLink has up to 18 from a GPU; more have no meaning.)
MAX_LINKS = 64


def _whole(value: Any, what: str, least: int, most: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise InputError(f"expected {what} from {least} to {most}, found `{value!r}`")
    return value


def _count(value: Any) -> int:
    return _whole(value, "a number of GPUs", 1, MAX_GPUS)


def _links(value: Any) -> Any:
    if value is None:
        return None
    if not isinstance(value, list | tuple):
        raise InputError(f"expected a list of pairs of GPUs, found `{value!r}`", hint="links = [[0, 1], [1, 2]]")
    links = []
    for place, link in enumerate(value):
        if not isinstance(link, list | tuple) or len(link) not in (2, 3):
            message = f"expected two GPUs and perhaps a number of links, found `{link!r}`"
            raise InputError(message, hint="[0, 1], or [0, 1, 2] for two links side by side", path=(place,))
        try:
            ends = [_whole(gpu, "a GPU", 0, MAX_GPUS - 1) for gpu in link[:2]]
            beside = [_whole(number, "a number of links", 1, MAX_LINKS) for number in link[2:]]
        except InputError as e:
            raise e.under(place) from None
        links.append((*ends, *beside))
    return tuple(links)


def _nics(value: Any) -> Any:
    if value is None:
        return None
    if not isinstance(value, list | tuple):
        raise InputError(f"expected a list with the NIC of each GPU, found `{value!r}`", hint="nics = [0, 0, 1, 1]")
    return tuple(_whole(nic, "a NIC", 0, 2**16) for nic in value)


class GpuTable(Table):
    """The GPUs of a node: each rank of a job runs on one of them, in turn by its place on the node."""

    count: Annotated[int, BeforeValidator(input_error_as_problem(_count))] = Field(description="GPUs of a node")
    network: Literal["switch", "mesh", "pcie"] = Field(
        description="what joins them: `switch`: a port of each GPU to an ideal switch (NVSwitch); `mesh`: links "
        "between pairs (NVLink without a switch, Infinity Fabric); `pcie`: a port of each GPU to one root"
    )
    bandwidth: Bandwidth = Field(description="bandwidth of a port, or of one link of a mesh, in each direction")
    latency: Delay = Field(description="time from GPU to GPU; in a mesh, for each link of the way")
    links: Annotated[
        tuple[tuple[int, int] | tuple[int, int, int], ...] | None, BeforeValidator(input_error_as_problem(_links))
    ] = Field(
        None,
        description="`mesh`: pairs that are joined, each perhaps with a number of links side by side: `[0, 1]`, "
        "`[0, 1, 2]` (default: all pairs, by one link)",
    )
    root: Bandwidth | None = Field(None, description="`pcie`: bandwidth of the root, which all transfers share")
    nics: Annotated[tuple[int, ...] | None, BeforeValidator(input_error_as_problem(_nics))] = Field(
        None, description="NIC of each GPU (default: the NICs of the node divided among its GPUs, in order)"
    )
    generation: Literal["ampere", "hopper"] | None = Field(
        None, description='their generation in NCCL\'s tuning model, for `algorithm = "nccl"`: `ampere` or `hopper`'
    )
    cpu: Literal["amd", "intel", "arm"] | None = Field(
        None, description="the CPUs of a node, for the same: `amd`, `intel` or `arm`"
    )

    def check(self) -> Self:
        """Raises InputError (with a path) for keys that the network does not have, and for GPUs that are not there."""
        for key, network in (("links", "mesh"), ("root", "pcie")):
            if self.network != network and getattr(self, key) is not None:
                hint = f'network = "{network}"'
                raise InputError(f"a `{self.network}` between GPUs has no `{key}`", hint=hint, path=(key,))
        if self.network == "pcie" and self.root is None:
            raise InputError("missing key `root`", hint="bandwidth of the root, which all transfers share")
        links = self.links or ()
        for place, link in enumerate(links):
            for end in link[:2]:
                if end >= self.count:
                    message = f"there is no GPU {end}: a node has {self.count}, numbered from 0"
                    raise InputError(message, path=("links", place))
            if link[0] == link[1]:
                raise InputError(f"a link joins two GPUs, found {link[0]} twice", path=("links", place))
            if any(set(link[:2]) == set(other[:2]) for other in links[:place]):
                message = f"GPUs {link[0]} and {link[1]} are joined twice"
                hint = f"[{link[0]}, {link[1]}, 2] is two links side by side"
                raise InputError(message, hint=hint, path=("links", place))
        if self.nics is not None and len(self.nics) != self.count:
            message = f"expected a NIC for each of {self.count} GPUs, found {len(self.nics)}"
            raise InputError(message, path=("nics",))
        return self

    def on_rails(self, rails: int) -> Self:
        """The same on nodes with so many NICs, with a NIC for each GPU.

        Raises InputError (path `nics`) for NICs that such nodes do not have.
        """
        if self.nics is not None:
            need = max(self.nics) + 1
            if need > rails:
                message = f"its {self.count} GPUs use {need} NICs of a node, but nodes of this machine have {rails}"
                hint = f"`rails = {need}` in the system gives them so many; or `gpu.nics` with NICs below {rails}"
                raise InputError(message, hint=hint, path=("nics",))
            return self
        return self.model_copy(update={"nics": tuple(gpu * rails // self.count for gpu in range(self.count))})

    def pairs(self) -> tuple[tuple[int, ...], ...]:
        """The pairs that links of a mesh join, each perhaps with a number of links."""
        return tuple(combinations(range(self.count), 2)) if self.links is None else self.links

    def most_of_one(self) -> int:
        """What all links of the GPU that has the most of them carry, or a port: millionths of a byte per second."""
        if self.network != "mesh":
            return self.bandwidth
        beside = [0] * self.count
        for pair in self.pairs():
            for end in pair[:2]:
                beside[end] += pair[2] if len(pair) == 3 else 1
        return self.bandwidth * max(beside)

    @property
    def text(self) -> str:
        """What it is, for `odonata show`."""
        of = "a link" if self.network == "mesh" else "a port"
        root = f", {units.format_bandwidth(self.root)} the root" if self.root is not None else ""
        speed = f"{units.format_bandwidth(self.bandwidth)} {of}{root}, {units.format_time(self.latency)}"
        return f"{self.count}, joined by a {self.network} ({speed})"

    def spec(self) -> dict[str, Any]:
        """The GPUs as the core reads them, from the result of `on_rails`."""
        assert self.nics is not None
        network: dict[str, Any] = {"kind": self.network, "latency_ps": self.latency}
        if self.network == "mesh":
            links = [[*pair[:2], self.bandwidth * (pair[2] if len(pair) == 3 else 1)] for pair in self.pairs()]
            network["links"] = links
        else:
            network["port"] = self.bandwidth
        if self.root is not None:
            network["root"] = self.root
        return {"count": self.count, "nics": list(self.nics), "network": network}
