"""Labels out of the column of a table: which type they have, and which cannot name classes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.errors import BadLabels, BadSetting, listed, meant
from suffice.places import LONGEST
from suffice.rows.cells import BOOLEAN, CATEGORY, NUMBER
from suffice.tables.csv.cells import is_code, number_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from suffice.training.hooks import Hooks

FEW_NUMBERS = 20
"""Whole numbers that name classes without a question; ages, years and counts are more. A choice:
of the public tables that rules are tried on, one has a target of more numbers, the 23 connections
of KDD Cup 99."""
MANY_CLASSES = 50
"""Whole numbers that name more classes than this, and few rows each, are not names."""
ROWS_EACH = 10
"""Rows for each name, below which they are few. A choice: identifiers and measurements have about
one."""


def label_kind_of(labels: Sequence[object]) -> str:
    """Return the kind of column that holds such labels."""
    if all(isinstance(label, bool) for label in labels):
        return BOOLEAN
    return NUMBER if all(isinstance(label, (int, float)) for label in labels) else CATEGORY


def labels_of(
    cells: NDArray[np.generic], kind: str, known: Sequence[object] | None = None
) -> tuple[NDArray[np.generic], NDArray[np.bool_]]:
    """Return labels in their own type, and which rows have one.

    `known` are labels that a model has already: of text, numbers become text as well.
    """
    if kind == NUMBER and cells.dtype.kind == "f":
        there = ~np.isnan(cells)
    else:
        there = np.array([cell is not None for cell in cells], dtype=bool)
    held = cells[there]
    texts = known is not None and label_kind_of(known) == CATEGORY
    if kind == NUMBER and texts:
        plain = (int(cell) if cell == cell // 1 else cell for cell in held.tolist())
        return np.array([str(cell) for cell in plain], dtype=object), there
    if kind == NUMBER and held.dtype.kind == "f":
        whole = bool((held == np.floor(held)).all()) and bool((np.abs(held) < 2.0**53).all())
        return (held.astype(np.int64) if whole else held), there
    if kind == NUMBER:
        return held, there
    if kind == BOOLEAN and not texts:
        return held.astype(np.bool_), there
    return np.array([str(cell) for cell in held], dtype=object), there


def plain_labels(labels: Any) -> NDArray[np.generic]:
    """Return labels as an array: numbers as they are, Arrow's text as objects."""
    if isinstance(labels, np.ndarray):
        return labels
    coded = labels.dictionary_encode()
    if hasattr(coded, "combine_chunks"):
        coded = coded.combine_chunks()
    names = np.array([*map(str, coded.dictionary.to_pylist()), ""], dtype=object)
    found: NDArray[np.generic] = names[:-1][np.asarray(coded.indices)]
    return found


def check_classes(
    labels: NDArray[np.generic],
    table: str,
    target: str | None,
    *,
    whole: bool = True,
    cut: str = "bins=4",
    declared: bool = False,
) -> None:
    """Refuse a target that names no classes: one value, or a quantity, which `cut` would cut.

    Whole numbers may be as many as they like if somebody has `declared` that they name classes.
    Where these are not the `whole` table, one value says nothing: it may be sorted by class.
    """
    place = f"{table}, y" if target is None else f"{table}, target {target!r}"
    if not len(labels):
        raise BadLabels(f"{place}: no row has a label", hint="is it the right column?")
    distinct, first = np.unique(labels, return_index=True)
    if len(distinct) == 1 and whole:
        raise BadLabels(
            f"{place} has one value, {distinct[0]!s}: at least two classes are needed",
            hint="give rows of two classes or more",
        )
    some = listed(distinct[np.argsort(first)][:3])
    if labels.dtype.kind == "f":
        raise BadLabels(
            f"{place} is a quantity: {len(distinct)} different numbers such as {some}",
            hint=f"classes are names or whole numbers: {cut} cuts the quantity into classes of "
            "about equal size; or name another target",
        )
    if (
        not declared
        and labels.dtype.kind == "i"
        and len(distinct) > max(MANY_CLASSES, len(labels) // ROWS_EACH)
    ):
        raise BadLabels(
            f"{place} is a quantity or a row number: {len(distinct)} different whole numbers "
            f"in {len(labels)} rows, such as {some}",
            hint=f"{cut} cuts it into classes of about equal size; or name another target",
        )
    if labels.dtype.kind == "O" and len(distinct) > max(MANY_CLASSES, len(labels) // 2):
        raise BadLabels(
            f"{place} is different in almost every row: {len(distinct)} different texts in "
            f"{len(labels)} rows, such as {some}",
            hint="name the column that holds the classes",
        )


TOTALS = frozenset(
    {
        "total", "totals", "grand total", "sum", "summe", "gesamt", "gesamtsumme", "somme",
        "totaal", "total général", "suma", "totale", "somma", "soma", "summa", "subtotal",
    }
)  # fmt: skip
"""What the last line of an export says in the place of a class, where it holds sums."""


def totals_row(labels: NDArray[np.generic]) -> str:
    """Return in words that the class of the last row names sums, and that no other row has it.

    >>> totals_row(np.array(["a", "b", "Total"], dtype=object))[:37]
    "the last row is of class 'Total', and"
    """
    last = labels[-1] if len(labels) else None
    if not isinstance(last, str) or last.strip().strip(":").lower() not in TOTALS:
        return ""
    if int((labels == last).sum()) > 1:
        return ""
    return f"the last row is of class {last!r}, and no other: if it holds sums, remove it"


def label_text(label: object) -> str | None:
    """Return a label as the text that stands for it: `1`, `1.0` and "1" are one; blank is None.

    >>> label_text(1.0), label_text("1.0"), label_text(True), label_text("true"), label_text(" ")
    ('1', '1', 'true', 'true', None)
    >>> label_text("01")
    '01'
    """
    if label is None or (isinstance(label, float) and np.isnan(label)):
        return None
    if isinstance(label, (bool, np.bool_)):
        return "true" if label else "false"
    text = str(label).strip()
    if text.lower() in ("true", "false"):
        return text.lower()
    number = None if is_code(text) else number_of(text)
    if number is not None and number == number // 1 and abs(number) < 2.0**53:
        return str(int(number))
    return text or None


def label_named(text: str, classes: Sequence[object]) -> object:
    """Return the class that a text names, or refuse it.

    >>> label_named("2", [1, 2, 3])
    2
    """
    for same in (str, label_text):
        for label in classes:
            if same(label) == same(text):
                return label
    raise BadSetting(
        f"there is no class {text[:LONGEST]!r}",
        hint=f"{meant(text, classes)}the classes are {listed(classes)}",
    )


def check_quantity(labels: NDArray[np.generic], place: str, target: str, hooks: Hooks) -> None:
    """Ask what a target of many whole numbers is, by refusing it until somebody says."""
    if labels.dtype.kind not in "iu":
        return
    distinct, first = np.unique(labels, return_index=True)
    if len(distinct) <= FEW_NUMBERS:
        return
    some = listed(distinct[np.argsort(first)][:3])
    raise BadLabels(
        f"{place} has {len(distinct)} different whole numbers in {len(labels)} rows, such as "
        f"{some}: a quantity, or names of classes?",
        hint=f"{hooks.option('bins', '4')} cuts a quantity into classes of about equal size; "
        f"{hooks.column(target, 'category')} declares that these are classes",
    )
