"""A report on rows and labels, in a file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from suffice.evaluation import compare
from suffice.report.html_page import page
from suffice.storage.atomic_writes import check_place, whole_file

if TYPE_CHECKING:
    from suffice.evaluation import Comparison


def write_report(
    path: str | Path,
    X: object,
    y: object,
    *,
    title: str | None = None,
    target: str = "",
    source: str = "",
    pictures: bool = True,
    models: Any = None,
    folds: int | None = None,
    random_state: int = 0,
    sample_weight: object = None,
) -> Comparison:
    """Compare the models on these rows, write the page about it, and return the comparison.

    `models`, `folds`, `random_state` and `sample_weight` are those of `suffice.compare`; the rest
    is as in `page`. The file is there whole or not at all.

    >>> import tempfile
    >>> from sklearn.datasets import load_iris
    >>> place = Path(tempfile.mkdtemp()) / "iris.html"
    >>> found = write_report(
    ...     place, *load_iris(return_X_y=True), models=["gda"], folds=3, pictures=False)
    >>> found.best, place.read_text("utf-8").startswith("<!DOCTYPE html>")
    ('GDA (shared covariance)', True)
    """
    check_place(path)
    found = compare(
        X, y, models=models, folds=folds, random_state=random_state, sample_weight=sample_weight
    )
    write_page(path, page(found, title=title, target=target, source=source, pictures=pictures))
    return found


def write_page(path: str | Path, html: str) -> None:
    """Write a page whole or not at all."""
    with whole_file(path, suffix=Path(path).suffix) as file:
        file.write(html.encode("utf-8"))
