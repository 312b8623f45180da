"""WRF: a time step of its idealised baroclinic wave."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, Self

from pydantic import Field

from odonata.document import Count
from odonata.errors import InputError
from odonata.scenario.apps.grid import Cells3, Grid2, by, decided_grid
from odonata.scenario.apps.skeletons.skeleton import Skeleton, halo

#: Bytes of a value: single precision.
SINGLE = 4


@dataclass(frozen=True)
class Strip:
    """Fields that are exchanged to the same depth: those of three dimensions, those of two, and whether the species
    are among them."""

    depth: int
    fields: int
    flat: int = 0
    species: bool = False


#: Halo of the registry -> what it exchanges (WRF, Registry.EM_COMMON). A stencil of 4 or 8 points has a depth of 1, of
#: 24 points 2, of 48 points 3, of 80 points 4.
HALOS: dict[str, tuple[Strip, ...]] = {
    "PHYS_A": (Strip(1, 2),),
    "TKE_C": (Strip(1, 7, 2),),
    "TKE_D": (Strip(1, 7),),
    "TKE_E": (Strip(1, 6, species=True),),
    "PHYS_DIFFUSION": (Strip(1, 12),),
    "A": (Strip(1, 8, 3),),
    "B": (Strip(1, 10, 3),),
    "C": (Strip(1, 2),),
    "C2": (Strip(1, 3, 3),),
    "D": (Strip(2, 3, 2),),
    "D2_5": (Strip(3, 5), Strip(2, 1, species=True), Strip(1, 1, 1)),
    "D3_5": (Strip(3, 12, species=True), Strip(1, 0, 2)),
    "E_5": (Strip(3, 12), Strip(1, 0, 2)),
    "MOIST_E_5": (Strip(3, 0, species=True),),
    "MOIST_E_7": (Strip(4, 0, species=True),),
    "MOIST_OLD_E_7": (Strip(4, 0, species=True),),
}
#: Those of the first stage alone: deformation and diffusion (`diff_opt = 1`).
DIFFUSION = ("PHYS_A", "TKE_C", "TKE_D", "TKE_E", "PHYS_DIFFUSION")
#: Those at the end of a stage.
ENDS = (("D2_5", "MOIST_E_5"), ("D2_5", "MOIST_E_7"), ())
#: Those at the end of the time step.
END = ("D3_5", "C", "E_5", "MOIST_E_5")

MOST_SOUND = 1_000
"""Most acoustic steps of a time step (assumed)."""


class Wrf(Skeleton):
    """A time step of WRF: 37 exchanges with four neighbours, in three stages with acoustic steps.

    The dynamics of the idealised baroclinic wave (em_b_wave): fifth-order advection, no physics. An exchange goes to
    the neighbours along y first, then along x with the corners, as its library RSL_LITE has it. Domains are open, in
    WRF that one is periodic along x. Sources: WRF, solve_em.F, module_first_rk_step_part2.F, Registry.EM_COMMON,
    test/em_b_wave.
    """

    motif: Literal["wrf"]
    cells: Cells3 = Field(
        (32, 32, 64), description="columns of a rank along x and y, and levels (default: 32 and 32, assumed; 64)"
    )
    species: Count = Field(1, description="species of moisture (default: 1, without microphysics; em_b_wave)")
    sound: Count = Field(4, description="acoustic steps of a time step, an even number (default: 4; em_b_wave)")
    grid: Grid2 | None = Field(None, description="ranks along x and y (default: as MPI_Dims_create)")

    def decided(self, ranks: int) -> Self:
        """With its grid filled in."""
        if self.sound % 2:
            message = f"expected an even number of acoustic steps, found {self.sound}"
            raise InputError(message, hint=f"sound = {self.sound + 1}", path=("sound",))
        if self.sound > MOST_SOUND:
            message = f"expected {MOST_SOUND:,} acoustic steps at most, found {self.sound:,}"
            raise InputError(message, hint=f"sound = {MOST_SOUND}, or less", path=("sound",))
        deepest = max(strip.depth for strips in HALOS.values() for strip in strips)
        if min(self.cells[:2]) < deepest:
            message = f"ranks of {by(self.cells[:2])} columns would need columns from beyond their neighbours"
            raise InputError(message, hint=f"{deepest} columns or more along x and y", path=("cells",))
        return self.model_copy(update={"grid": decided_grid(self.grid, ranks, 2)})

    def phases(self, ranks: int) -> list[dict[str, Any]]:  # noqa: ARG002
        """All exchanges, one after the other."""
        return [phase for name in exchanges(self.sound) for phase in self._halo(HALOS[name])]

    def _halo(self, strips: tuple[Strip, ...]) -> list[dict[str, Any]]:
        assert self.grid is not None
        x, y, levels = self.cells
        along_x = along_y = 0
        for strip in strips:
            values = strip.fields * levels + strip.flat + (self.species * levels if strip.species else 0)
            along_y += strip.depth * x * values * SINGLE
            along_x += strip.depth * (y + 2 * strip.depth) * values * SINGLE
        grid = [*self.grid, 1]
        return [*self.exchange(halo(grid, (0, along_y, 0))), {"what": halo(grid, (along_x, 0, 0))}]


def exchanges(sound: int) -> Iterator[str]:
    """The halos of a time step with so many acoustic steps, in their order."""
    for stage, (steps, end) in enumerate(zip((1, sound // 2, sound), ENDS, strict=True)):
        yield "A"
        yield from DIFFUSION if stage == 0 else ()
        yield "B"
        for _ in range(steps):
            yield "C"
            yield "C2"
        yield from ("MOIST_OLD_E_7",) if stage == len(ENDS) - 1 else ()
        yield "D"
        yield from end
    yield from END
