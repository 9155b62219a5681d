"""Families of columns by name."""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping
from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple, TypeGuard

from suffice.errors import BadSetting, listed
from suffice.models.gaussian.family import Gaussian
from suffice.models.naive_bayes.families.gaussian import FORMS, GaussianColumns

if TYPE_CHECKING:
    from suffice.models.naive_bayes.families.protocol import ColumnFamily


class _Home(NamedTuple):
    """Where a family is: its module and class, and the settings that its name stands for."""

    module: str
    kind: str
    settings: tuple[str, ...] = ()


HERE = "suffice.models.naive_bayes.families"
"""Where our families are, a module each."""
HOMES = {
    "bernoulli": _Home(f"{HERE}.bernoulli", "Bernoulli"),
    "binned": _Home(f"{HERE}.binned", "Binned"),
    "bytes": _Home(f"{HERE}.texts.bytes", "TextBytes"),
    "categorical": _Home(f"{HERE}.categorical", "Categorical"),
    "gaussian": _Home(f"{HERE}.gaussian", "GaussianColumns"),
    "shared-gaussian": _Home(f"{HERE}.gaussian", "GaussianColumns", ("shared",)),
    "lognormal": _Home(f"{HERE}.lognormal", "LogNormal"),
    "shared-lognormal": _Home(f"{HERE}.lognormal", "LogNormal", ("shared",)),
    "multinomial": _Home(f"{HERE}.multinomial", "Multinomial"),
    "poisson": _Home(f"{HERE}.poisson", "Poisson"),
    "predictive-gaussian": _Home(f"{HERE}.predictive_gaussian", "PredictiveGaussian"),
    "shared-predictive-gaussian": _Home(
        f"{HERE}.predictive_gaussian", "PredictiveGaussian", ("shared",)
    ),
    "words": _Home(f"{HERE}.texts.words", "TextWords"),
}
"""Our families by their names in settings."""


class NamedFamilies(MutableMapping[str, "ColumnFamily"]):
    """Families by their names in settings, ours and registered ones, with their usual settings.

    A module of ours is loaded when its family is asked for: a table needs two or three of them.
    """

    def __init__(self) -> None:
        self._made: dict[str, ColumnFamily] = {}

    def __getitem__(self, name: str) -> ColumnFamily:
        if name not in self._made:
            home = HOMES[name]
            kind = getattr(import_module(home.module), home.kind)
            self._made[name] = kind(*home.settings)
        return self._made[name]

    def __setitem__(self, name: str, family: ColumnFamily) -> None:
        self._made[name] = family

    def __delitem__(self, name: str) -> None:
        del self._made[name]

    def __contains__(self, name: object) -> bool:
        return name in HOMES or name in self._made  # without loading it

    def __iter__(self) -> Iterator[str]:
        return iter({**HOMES, **self._made})

    def __len__(self) -> int:
        return len({**HOMES, **self._made})

    def holds(self, kind: type) -> bool:
        """Whether a class is one of theirs."""
        ours = {(home.module, home.kind) for home in HOMES.values()}
        home = kind.__module__, kind.__qualname__
        return home in ours or kind in map(type, self._made.values())


NAMED = NamedFamilies()
"""Families by their names in settings, with their default settings."""
COMMON = "common "
"""Before the name of a family: one law for all classes."""


def family_named(asked: object, place: str) -> ColumnFamily:
    """Return the family that a setting asks for, by name or as it is; `place` is for refusals.

    "common" before a name asks for one law for all classes.
    """
    if isinstance(asked, Gaussian):
        for variance, form in FORMS.items():
            if asked.covariance == form and asked.divisor == "mle":
                return GaussianColumns(variance)
    if isinstance(asked, str) and asked in NAMED:
        return NAMED[asked]
    if isinstance(asked, str) and asked.startswith(COMMON):
        inner = asked.removeprefix(COMMON)
        if inner in NAMED and NAMED[inner].is_single:
            from suffice.models.naive_bayes.families.same_in_all_classes import Common

            return Common(NAMED[inner])
    if not _is_family(asked):
        raise BadSetting(
            f"{asked!r:.60} is not a family for {place}",
            hint=f"choose one of {listed(NAMED)}, or an object of suffice.families",
        )
    return asked


def _is_family(asked: object) -> TypeGuard[ColumnFamily]:
    """Whether a setting is a family itself."""
    kind = type(asked)
    common = kind.__module__, kind.__qualname__
    return NAMED.holds(kind) or common == (f"{HERE}.same_in_all_classes", "Common")
