"""Families of columns that came later: of users, and of modules that are not ours."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING, Any

from suffice.errors import BadSetting, listed

if TYPE_CHECKING:
    from suffice.models.naive_bayes.families.protocol import ColumnFamily

FAMILIES: dict[str, Any] = {}
"""Families by their names in settings."""
CLASSES: dict[str, type] = {}
"""Their classes and those of their laws, by the names that stand in model files."""
STATISTICS = ("DiagonalMoments", "Tallies", "Totals")
"""What may suffice for a column: statistics that files, merging and databases know."""
FAMILY = (
    "name", "smooths", "needs_folds", "form", "becomes", "statistics", "read", "summarize",
    "estimate", "smoothing", "left_out", "estimates",
)  # fmt: skip
"""What a family has to have; all else has an answer in `BaseFamily`."""
LAWS = (
    "form", "size", "width", "scores", "carrier", "column_scores", "sample", "linear",
    "estimation_variance", "described", "picture",
)  # fmt: skip
"""What its laws have to have, besides what is in `BaseLaws`."""


def register_family(family: ColumnFamily, laws: type) -> None:
    """Make a new family of columns known to naive Bayes, model files, SQL and pictures.

    Both are frozen dataclasses; `form` declares what a model file may contain in their fields. A
    model file names the classes, so they have to be registered before it is read.

    Parameters
    ----------
    family : ColumnFamily
        The family, as it is used by its name in settings.
    laws : type
        The class of what its `estimate` returns.

    Returns
    -------
    None
        The family can be used by its name afterwards.

    See Also
    --------
    BaseFamily : What families derive from.
    BaseLaws : What laws derive from.

    Examples
    --------
    >>> from suffice.families import Poisson, register_family
    >>> from suffice.errors import BadSetting
    >>> try:
    ...     register_family(Poisson(), type(Poisson()))
    ... except BadSetting as error:
    ...     print(error.hint)
    derive from suffice.families.BaseFamily and BaseLaws, or LinearLaws
    """
    kind = type(family)
    _check(kind, FAMILY, "family")
    _check(laws, LAWS, "laws")
    if family.becomes != laws.__name__:
        raise BadSetting(
            f"{kind.__name__} becomes {family.becomes!r}, which is not {laws.__name__}",
            hint="name the class of the laws in `becomes`",
        )
    if family.statistics not in STATISTICS:
        raise BadSetting(
            f"{kind.__name__} is learned from {family.statistics!r}",
            hint=f"statistics of columns are {listed(STATISTICS)}",
        )
    from suffice.models.naive_bayes.families.registry import NAMED

    same = NAMED.get(family.name)
    if same is not None and type(same).__qualname__ != kind.__qualname__:
        raise BadSetting(
            f"a family named {family.name!r} exists already", hint="choose another name"
        )
    NAMED[family.name] = FAMILIES[family.name] = family
    CLASSES.update({kind.__name__: kind, laws.__name__: laws})


def _check(kind: type, names: tuple[str, ...], what: str) -> None:
    """Refuse a class that lacks something, or whose fields have no form."""
    lacking = [name for name in names if not hasattr(kind, name) and name not in _fields(kind)]
    if lacking or not is_dataclass(kind):
        said = f"lacks {listed(lacking)}" if lacking else "is not a dataclass"
        raise BadSetting(
            f"{kind.__name__} is not a {what} of columns: it {said}",
            hint="derive from suffice.families.BaseFamily and BaseLaws, or LinearLaws",
        )
    form: Any = kind.form  # type: ignore[attr-defined]
    if set(form) != _fields(kind):
        raise BadSetting(
            f"the form of {kind.__name__} is one of {listed(sorted(form))}; its fields are "
            f"{listed(sorted(_fields(kind)))}",
            hint="model files store the fields: declare for each what it may contain",
        )


def _fields(kind: type) -> set[str]:
    return {field.name for field in fields(kind)} if is_dataclass(kind) else set()
