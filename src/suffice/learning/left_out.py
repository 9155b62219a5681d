"""What stands in a model that was saved without its statistics: it answers, and that is all."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn

from suffice.errors import StatisticsMissing

if TYPE_CHECKING:
    from suffice.rows import Label


def _refuse(what: str) -> NoReturn:
    raise StatisticsMissing(
        f"this model was saved without its statistics, so it cannot {what}",
        hint="save it with them: save(path), or suffice fit without --without-statistics",
    )


@dataclass(frozen=True, slots=True, eq=False)
class StatisticsLeftOut:
    """Stands where statistics were left out; it knows the labels, and refuses everything else."""

    labels: tuple[Label, ...]

    def __add__(self, other: object) -> NoReturn:
        """Refuse to learn or merge."""
        _refuse("learn or merge")

    __radd__ = __add__

    def __sub__(self, other: object) -> NoReturn:
        """Refuse to forget."""
        _refuse("forget")

    def __getattr__(self, name: str) -> NoReturn:
        """Refuse to be looked at."""
        if name.startswith("__"):
            raise AttributeError(name)
        _refuse(f"answer {name}")


def check_nothing_left_out(*statistics: object) -> None:
    """Refuse to merge where the statistics of either were left out."""
    if any(isinstance(held, StatisticsLeftOut) for held in statistics):
        _refuse("learn or merge")


@dataclass(frozen=True, slots=True, eq=False)
class ModelAlone:
    """A model without the moments that it was estimated from."""

    model: Any
    notes: tuple[Any, ...] = ()

    @property
    def normals(self) -> Any:
        """The class densities, of normal classes."""
        return self.model.densities

    def __getattr__(self, name: str) -> NoReturn:
        """Refuse what needs the moments."""
        if name.startswith("__"):
            raise AttributeError(name)
        _refuse("answer this")
