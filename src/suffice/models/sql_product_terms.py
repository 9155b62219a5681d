"""Scores of naive Bayes as sums of SQL expressions: a law for every column."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.columns.schema import PlainColumns
from suffice.errors import BadSetting
from suffice.models.naive_bayes.families.bernoulli import BernoulliColumns
from suffice.models.naive_bayes.families.binned import BinnedColumns
from suffice.models.naive_bayes.families.complement import ComplementForm
from suffice.models.naive_bayes.families.linear_laws import LinearLaws
from suffice.models.naive_bayes.families.multinomial import MultinomialCounts
from suffice.models.naive_bayes.families.gaussian import LogNormalColumns, NormalColumns
from suffice.models.naive_bayes.families.same_in_all_classes import CommonColumns
from suffice.models.naive_bayes.families.poisson import PoissonColumns
from suffice.models.naive_bayes.families.tally_laws import TallyLaws
from suffice.models.sql_terms import Terms, alias_beside, balanced, diagonal_terms
from suffice.rows.cells import CATEGORY, DOUBLES, NUMBER

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from suffice.engines.sql_dialects import Dialect
    from suffice.models.naive_bayes.model import NaiveBayesModel


def product_terms(
    model: NaiveBayesModel,
    columns: Any,
    dialect: Dialect,
    filled: Mapping[str, str],
    chosen: Collection[int] = (),
) -> Terms:
    """Return log p(x, class), up to what classes share, of independent columns.

    In columns that are `chosen` by their looks any number has an answer, as in `Product.read`.
    """
    terms = Terms(dialect, len(model.labels), alias=alias_beside(columns))
    names = columns.names
    plain = isinstance(columns, PlainColumns)
    kinds = [NUMBER if plain else column.kind for column in columns.columns]
    for law, group in zip(model.laws, model.product.columns, strict=True):
        if isinstance(law, CommonColumns):
            continue  # the same for all classes
        for place, j in enumerate(group):
            if kinds[j] == CATEGORY:
                if not isinstance(law, TallyLaws) or isinstance(law, BinnedColumns):
                    raise BadSetting(
                        f"{names[j]} holds text, but its law is one of numbers",
                        hint="fit the model again with the column as numbers",
                    )
                _tallied(terms, law, place, terms.text(names[j]), text=True)
                continue
            cell = terms.number(names[j], kinds[j], filled)
            terms.finite([cell])
            if isinstance(law, TallyLaws) and _are_beyond_doubles(law, place):
                _tallied(terms, law, place, terms.text(names[j]), text=True)
                continue
            _column(terms, law, place, cell, chosen=j in chosen)
    beta = dialect.number(float(model.temperature))
    for c, prior in enumerate(model.log_priors):
        inner = balanced(terms.scores[c], dialect)
        scaled = inner if model.temperature == 1.0 else f"{beta} * {inner}"
        terms.scores[c] = [dialect.number(float(prior)), scaled]
    return terms


def _are_beyond_doubles(law: TallyLaws, place: int) -> bool:
    """Whether levels are whole numbers that are no doubles: these are compared as text."""
    known: Any = law.levels[place]
    return not isinstance(law, BinnedColumns) and any(abs(level) > DOUBLES for level in known)


def _column(terms: Terms, law: Any, place: int, cell: str, *, chosen: bool) -> None:
    """Add one column of numbers."""
    if isinstance(law, NormalColumns):
        if isinstance(law, LogNormalColumns):
            cell = f"(CASE WHEN {cell} > {terms.dialect.number(0.0)} THEN ln({cell}) END)"
        one = np.arange(law.width) == place
        diagonal_terms(terms, law.normals.marginal(one), [cell])
    elif isinstance(law, BinnedColumns):
        _binned(terms, law, place, cell)
    elif isinstance(law, TallyLaws):
        if not chosen:
            terms.valid.append(f"({cell} IS NULL OR {cell} = floor({cell}))")
        _tallied(terms, law, place, cell, text=False)
    elif isinstance(law, LinearLaws):
        if chosen and isinstance(law, PoissonColumns):
            least = terms.dialect.number(0.0)
            cell = f"(CASE WHEN {cell} >= {least} AND {cell} = floor({cell}) THEN {cell} END)"
        _linear(terms, law, place, cell)
    else:
        raise BadSetting(
            f"{type(law).__name__} has no form in SQL", hint="use a family of the library"
        )


def _linear(terms: Terms, law: LinearLaws, place: int, cell: str) -> None:
    """Add x·slope + offset, and the same for impossible events."""
    n = terms.dialect.number
    if isinstance(law, (MultinomialCounts, ComplementForm)):
        terms.valid.append(f"{cell} IS NOT NULL AND {cell} >= {n(0.0)}")
    elif isinstance(law, PoissonColumns):
        terms.valid.append(f"({cell} IS NULL OR ({cell} >= {n(0.0)} AND {cell} = floor({cell})))")
    elif isinstance(law, BernoulliColumns) and law.threshold is None:
        terms.valid.append(f"({cell} IS NULL OR {cell} = {n(0.0)} OR {cell} = {n(1.0)})")
    value = cell
    if law.threshold is not None:
        value = f"CASE WHEN {cell} > {n(float(law.threshold))} THEN {n(1.0)} ELSE {n(0.0)} END"
        value = f"({value})"
    for slopes, offsets, into in (
        (law.slopes, law.offsets, terms.scores),
        (law.order_slopes, law.order_offsets, terms.orders),
    ):
        if slopes is None:
            continue
        for c in range(terms.size):
            parts = []
            line = terms.product(float(slopes[c, place]), value)
            parts += [] if line is None else [line]
            if offsets is not None and offsets[c, place] != 0.0:
                parts.append(n(float(offsets[c, place])))
            if parts:
                into[c].append(terms.skipping(cell, " + ".join(parts)))


def _tallied(terms: Terms, law: TallyLaws, place: int, cell: str, *, text: bool) -> None:
    """Look levels up; the last but one entry is for what was never seen."""
    d = terms.dialect
    known: Any = law.levels[place]
    levels = [d.literal(str(v)) if text else d.number(float(v)) for v in known]
    _cases(terms, law, place, cell, [f"{cell} = {level}" for level in levels])


def _binned(terms: Terms, law: BinnedColumns, place: int, cell: str) -> None:
    """Look bins up; the last one has no upper edge."""
    n = terms.dialect.number
    tests = [f"{cell} < {n(edge)}" for edge in law.edges[1:-1]]
    _cases(terms, law, place, cell, [*tests, f"{cell} IS NOT NULL"])


def _cases(terms: Terms, law: TallyLaws, place: int, cell: str, tests: Sequence[str]) -> None:
    n = terms.dialect.number
    for table, into in ((law.tables[place], terms.scores), (law.orders[place], terms.orders)):
        if table is None:
            continue
        for c in range(terms.size):
            whens = " ".join(
                f"WHEN {test} THEN {n(float(table[level, c]))}" for level, test in enumerate(tests)
            )
            never = n(float(table[-2, c]))
            body = f"CASE {whens} ELSE {never} END" if whens else never
            into[c].append(terms.skipping(cell, body))
