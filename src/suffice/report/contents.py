"""What a page is about: a comparison, its columns, and worries; as plain values as well."""

from __future__ import annotations

import math
import re
from dataclasses import asdict, dataclass, field
from html import unescape
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from suffice.errors import SufficeError
from suffice.evaluation import learning_curves
from suffice.report.associations import correlations
from suffice.report.data_summary import glance
from suffice.report.guarantees.audited_labels import audited
from suffice.report.guarantees.audited_labels import record as audit_record
from suffice.report.guarantees.held_out_sets import held_out_sets
from suffice.report.informative_columns import informative_columns
from suffice.report.markup import name, names, text
from suffice.report.ranking import areas
from suffice.report.tables import confusion_counts

if TYPE_CHECKING:
    from collections.abc import Mapping

    from suffice.columns.spellings.spelling import Spelling
    from suffice.evaluation import Comparison, LearningCurves
    from suffice.monitoring.audit import Audit
    from suffice.printing.result_table import TextTable
    from suffice.report.associations import Correlations
    from suffice.report.data_summary import ColumnGlance
    from suffice.report.guarantees.held_out_sets import HeldOutSets
    from suffice.report.informative_columns import Informative

TAG = re.compile(r"<[^>]*>")
"""What is taken out where a page's words are needed without their markup."""


@dataclass(frozen=True, slots=True, eq=False)
class Contents:
    """A comparison, and what was looked up for its page.

    columns       what each column looks like
    informative   what each tells about the class; None where that cannot be asked
    worries       sentences, as HTML
    correlations  between columns of numbers; None where there are fewer than two
    own_curve     the learning curve of the recommended model, if the comparison has none of it
    sets          prediction sets of held-out rows; None for models without probabilities
    audit         labels that are probably wrong; None for large tables
    """

    comparison: Comparison
    columns: tuple[ColumnGlance, ...]
    informative: Informative | None
    worries: tuple[str, ...]
    correlations: Correlations | None = None
    own_curve: LearningCurves | None = None
    sets: HeldOutSets | None = None
    audit: Audit | None = None
    spellings: Mapping[str, Spelling] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        comparison: Comparison,
        *,
        curve: bool = True,
        spellings: Mapping[str, Spelling] | None = None,
    ) -> Self:
        """Look at the rows of a comparison, whose columns are written as `spellings` say.

        `curve`: make one of the recommended model as well.
        """
        columns = glance(comparison.rows, spellings)
        found = informative_columns(comparison.rows)
        return cls(
            comparison,
            columns,
            found,
            tuple(worries(comparison, columns, found)),
            correlations(comparison.rows, found),
            own_curve(comparison) if curve else None,
            held_out_sets(comparison, comparison.recommendation.model),
            audited(comparison),
            dict(spellings or {}),
        )

    def record(self) -> dict[str, object]:
        """Return the content of the page as plain values, for programs: JSON can hold them.

        >>> from sklearn.datasets import load_iris
        >>> from suffice import compare
        >>> found = compare(*load_iris(return_X_y=True), models=["gda"], folds=3, curves=False)
        >>> said = Contents.of(found).record()
        >>> said["recommended"], said["columns"][0]["name"], said["confusion"][0]
        ('GDA (shared covariance)', 'x0', [50, 0, 0])
        """
        found = self.comparison
        said = found.recommendation
        return {
            "recommended": said.model,
            "best": said.best,
            "school": said.school,
            "advice": said.advice,
            "judged": None if said.judged is None else plain(said.judged.to_dict()),
            "reasons": list(said.reasons),
            "assumptions": list(said.assumptions),
            "worries": [plain_text(sentence) for sentence in self.worries],
            "rows": len(found.rows),
            "classes": [
                {"class": plain(label), "rows": plain(count)}
                for label, count in zip(found.rows.classes, found.rows.counts, strict=True)
            ],
            "columns": [self._column(j, one) for j, one in enumerate(self.columns)],
            "models": records(found.table),
            "confusion": plain(confusion_counts(found, said.model)),
            "auc": [
                {"class": plain(label), "auc": area}
                for label, area in areas(found, said.model).items()
            ],
            "prediction_sets": None if self.sets is None else self.sets.record(),
            "audit": None if self.audit is None else audit_record(self.audit),
            "correlations": self._correlations(),
            "curves": self._curves(),
            "crossings": [plain(asdict(one)) for one in found.crossings],
            "diagnostics": records(found.diagnostics.table),
            "notes": list(found.notes),
        }

    def _column(self, j: int, one: ColumnGlance) -> dict[str, object]:
        known = self.informative
        return {
            "name": one.name,
            "kind": one.kind,
            "blank": one.blanks,
            "different": one.values,
            "bits": None if known is None else plain(known.bits[j]),
        }

    def _correlations(self) -> list[dict[str, object]]:
        """Return the strongest pairs."""
        pairs = () if self.correlations is None else self.correlations.pairs
        return [{"columns": [one, other], "correlation": r} for one, other, r in pairs]

    def _curves(self) -> dict[str, object] | None:
        curves = self.comparison.curves
        if curves is None:
            return None
        found: dict[str, object] = {"sizes": plain(curves.sizes)}
        for measure, losses in (("errors", False), ("log_loss", True)):
            found[measure] = {
                one: dict(
                    zip(
                        ("mean", "low", "high"),
                        map(plain, curves.band(one, losses=losses)),
                        strict=True,
                    )
                )
                for one in curves.names
            }
        if self.own_curve is not None:
            own = self.own_curve
            found["recommended"] = {
                "model": own.names[0],
                "sizes": plain(own.sizes),
                "errors": plain(own.band(own.names[0])[0]),
                "log_loss": plain(own.band(own.names[0], losses=True)[0]),
            }
        return found


def records(table: TextTable) -> list[dict[str, object]]:
    """Return the rows of a table of results by the names of its columns."""
    names = [column.name or column.head for column in table.columns]
    return [dict(zip(names, map(plain, row), strict=True)) for row in table.rows]


def plain(value: object) -> Any:
    """Return a value as JSON knows it; None where there is no answer.

    >>> import numpy as np
    >>> plain(np.array([1.0, 2.5, np.nan]))
    [1, 2.5, None]
    """
    if isinstance(value, np.ndarray | list | tuple):
        return [plain(one) for one in value]
    if isinstance(value, dict):
        return {str(key): plain(one) for key, one in value.items()}
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float):
        if not math.isfinite(value):
            return None
        return int(value) if value.is_integer() and abs(value) < 1e15 else value
    return value if value is None or isinstance(value, str | int | bool) else str(value)


def plain_text(html: str) -> str:
    """Return the words of a sentence that was written for the page.

    >>> plain_text("<bdi>a &lt; b</bdi> is 50&nbsp;%")
    'a < b is 50 %'
    """
    return unescape(TAG.sub("", html)).replace("\xa0", " ")


CODE = re.compile(r"`([^`]+)`")
"""What notes write between backquotes."""
GIVEN_AWAY = 0.9
"""The share of the class's entropy that a column tells when it all but names the class."""
MOSTLY_BLANK = 0.5
"""The share of blanks beyond which a column has more of them than numbers."""


def worries(
    comparison: Comparison, columns: tuple[ColumnGlance, ...], found: Informative | None
) -> list[str]:
    """Return sentences as HTML: those of the recommendation, then those on the columns."""
    said = [
        CODE.sub(r"<code>\1</code>", text(sentence))
        for sentence in comparison.recommendation.worries
    ]
    size = len(comparison.rows)
    if found is not None and found.whole > 0.0:
        telling = [found.names[j] for j in found.order if found.bits[j] >= GIVEN_AWAY * found.whole]
        if telling:
            said.append(
                f"{names(telling)} almost {'give' if len(telling) > 1 else 'gives'} "
                "the class away: is it known before the class is?"
            )
    constant = [one.name for one in columns if one.values == 1 and not one.blanks]
    if constant:
        said.append(f"Constant, and therefore not used: {names(constant)}.")
    empty = [one.name for one in columns if not one.values]
    if empty:
        said.append(f"Blank in every row: {names(empty)}.")
    gaps = [one for one in columns if one.values and one.blanks > MOSTLY_BLANK * size]
    if gaps:
        told = ", ".join(f"{name(one.name)} {100.0 * one.blanks / size:.0f} %" for one in gaps[:8])
        said.append(f"Blank in most rows: {told}. Why are they blank?")
    numbers = [
        one.name
        for one in columns
        if one.kind == "whole number" and one.values == size and size > 20
    ]
    if numbers:
        said.append(
            f"{names(numbers)} {'are' if len(numbers) > 1 else 'is'} different in every row: if "
            "it only numbers the rows, leave it out."
        )
    return said


SIZES, SPLITS = 4, 2
"""Points of a pool's curve and splits of each, few of both: it fits ten models for every one."""
SINGLE_SPLITS = 8
"""Splits of a single model's curve. A choice: as many as have a band that tells something."""
DEAREST = 6.0
"""Seconds that judging the model may have taken for a curve to be made: the curve takes about
twice as long."""
TESTED = 500
"""Rows that each split is tested on: √(0.25/500) < 0.025 is the largest standard error of a share
of errors."""


def own_curve(comparison: Comparison) -> LearningCurves | None:
    """Return the learning curve of the recommended model; None where there is one, or none at all.

    >>> from sklearn.datasets import load_iris
    >>> from suffice import compare
    >>> found = compare(*load_iris(return_X_y=True), models=["gda"], folds=3)
    >>> own_curve(found) is None
    True
    """
    curves = comparison.curves
    model = comparison.recommendation.model
    if curves is None or model in curves.names or comparison.scores[model].seconds > DEAREST:
        return None
    one = comparison.candidate(model)
    points = SIZES if one.is_pool else len(curves.sizes)
    kept = np.unique(np.linspace(0, len(curves.sizes) - 1, points).round().astype(int))
    try:
        return learning_curves(
            {model: one.estimator}, comparison.rows, sizes=curves.sizes[kept],
            repeats=SPLITS if one.is_pool else SINGLE_SPLITS, most_tested=TESTED,
        )  # fmt: skip
    except SufficeError:  # a page without this curve is still a page
        return None
