"""A model as one SELECT: scores, probabilities and classes, computed by a database."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from suffice.columns.design import Design
from suffice.columns.schema import PlainColumns
from suffice.errors import BadSetting
from suffice.models.gaussian.model import GenerativeModel
from suffice.models.linear.averaged_form import AveragedForm
from suffice.models.linear.form import LinearForm
from suffice.models.naive_bayes.asked_of_families import (
    ANY,
    COUNTS,
    TRUTHS,
    WHOLE,
    BinsCell,
    LevelsCell,
    LinearCell,
    NormalCell,
    StudentCell,
)
from suffice.models.naive_bayes.families_by_looks import chosen_by_looks
from suffice.models.naive_bayes.model import NaiveBayesModel
from suffice.rows.cells import CATEGORY, DOUBLES, NUMBER
from suffice.sql.dialects import dialect_named
from suffice.sql.scorer_terms import (
    SqlTerms,
    alias_beside,
    balanced,
    diagonal_terms,
    linear_terms,
    normal_terms,
    refuse_curved_laws,
    student_terms,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

    from suffice.rows import Label
    from suffice.sql.dialects import SqlDialect


UNLIKELY = -700.0
"""Log odds below which a probability is 0: PostgreSQL refuses to take the exponential."""
BAYES = "Classes by Bayes' rule, in logarithms: the largest is taken out before exponentials."
"""The comment that heads every query."""
NO_BLANKS = "A row with a blank or infinite number has no answer: all of it is NULL."
"""The comment on rows without an answer, for models that need every cell;"""
BLANKS = "A blank number (NULL, NaN) is passed over; a row with an infinite one has no answer."
"""for those that pass over blanks;"""
NO_COUNTS = "A row that the model would refuse, such as one with a negative count, has no answer."
"""and for naive Bayes, some of whose families refuse cells."""


def scorer_sql(
    model: GenerativeModel | NaiveBayesModel | LinearForm,
    columns: object,
    *,
    dialect: str = "duckdb",
    table: str = "new_rows",
    proba: bool = False,
    scores: bool = False,
    filled: Mapping[str, str] | None = None,
    families: object = None,
) -> str:
    """Return the SELECT that adds a model's answers to every row of a table.

    The answers stand behind the table's own columns: `prediction`, with `proba` the probability of
    every class, `p_…`, and with `scores` log p(x, class) up to what all classes share, `score_…`.
    Names and levels are quoted, whatever they hold. `filled` are expressions that stand for some
    columns. `families` is the setting that chose those of naive Bayes.

    >>> from suffice import GaussianDiscriminant
    >>> model = GaussianDiscriminant().fit([[1.0], [2.0], [5.0], [6.0]], list("aabb"))
    >>> print(scorer_sql(model.model_, model.learned_.columns, table="flowers"))
    -- Classes by Bayes' rule...
    """
    way = dialect_named(dialect)
    terms = _terms(model, columns, way, filled or {}, families)
    log_priors = getattr(model, "log_priors", np.zeros(len(model.labels)))
    possible = [c for c in range(terms.size) if log_priors[c] > -np.inf]
    lines = [f"FROM {way.table(table)} AS {terms.alias}"]
    carried: list[str] = []
    for layer in _layers(terms, possible):
        kept = [name for name in carried if name in layer.keeps]
        chosen = [*kept, *(f"{e} AS {name}" for name, e in layer.adds.items())]
        lines = [f"SELECT {', '.join(chosen)}", *lines]
        inner = [*lines[:-1], lines[-1] + way.fence]
        lines = ["FROM (", *(f"  {line}" for line in inner), ") AS suffice_q"]
        carried = [*kept, *layer.adds]
        if len(carried) > way.widest:
            raise BadSetting(
                f"{way.name} has room for {way.widest:,} columns, and {len(carried):,} are needed",
                hint="use a model of fewer columns or classes, or another dialect",
            )
    row = "(suffice_q.suffice_row)" if way.name == "postgres" else "suffice_row"
    named = _names(model.labels, columns, way)
    answers = [("prediction", _prediction(model.labels, possible, way))]
    for c, label in enumerate(model.labels) if proba else ():
        share = f"e{c} / total" if c in possible else way.number(0.0)
        answers.append((f"p_{label}", f"CASE WHEN best IS NOT NULL THEN {share} END"))
    for c, label in enumerate(model.labels) if scores else ():
        answers.append((f"score_{label}", f"r{c}" if c in possible else way.number(-np.inf)))
    added = ", ".join(f"{e} AS {way.identifier(named[title])}" for title, e in answers)
    comments = [BAYES, BLANKS if terms.blanks else NO_BLANKS]
    comments += [NO_COUNTS] if isinstance(model, NaiveBayesModel) else []
    told = [f"-- {comment}" for comment in comments]
    return "\n".join([*told, f"SELECT {row}.*, {added}", *lines]) + "\n"


def _terms(
    model: object, columns: object, dialect: SqlDialect, filled: Mapping[str, str], families: object
) -> SqlTerms:
    if isinstance(model, LinearForm):
        return linear_terms(model, columns, dialect, filled)
    if isinstance(model, GenerativeModel):
        refuse_curved_laws(model)
        return normal_terms(model, columns, dialect, filled)
    if isinstance(model, NaiveBayesModel):
        if model.shares is not None:
            raise BadSetting(
                "an average over temperatures is not written in SQL: only one temperature is",
                hint='fit with temperature=None, a number or "held-out"',
            )
        chosen = chosen_by_looks(families, columns)
        return product_terms(model, columns, dialect, filled, chosen)
    if isinstance(model, AveragedForm):
        raise BadSetting(
            "an average over penalties cannot be written as SQL",
            hint='fit with penalty="auto" (--penalty auto): it chooses one',
        )
    raise BadSetting(
        f"a {type(model).__name__} cannot be written as SQL",
        hint="discriminants, naive Bayes and logistic regression can be",
    )


# Layers, from the cells outwards


class _Layer(NamedTuple):
    """What one SELECT adds to the one inside it, and what it keeps of that."""

    adds: dict[str, str]
    keeps: frozenset[str]


def _layers(terms: SqlTerms, possible: Sequence[int]) -> Iterator[_Layer]:
    """Yield the SELECTs from the table outwards."""
    number = terms.dialect.number
    whole = f"struct({terms.alias}.*)" if terms.dialect.name == "spark" else terms.alias
    yield _Layer({"suffice_row": whole, **terms.cells}, frozenset())
    yield _Layer(terms.then, frozenset({"suffice_row", *terms.cells}))
    row = frozenset({"suffice_row"})
    valid = _all(terms.valid)
    found = {}
    for c in possible:
        total = balanced(terms.scores[c], terms.dialect)
        found[f"r{c}"] = total if valid is None else f"CASE WHEN {valid} THEN {total} END"
    kept = row | found.keys()
    if any(terms.orders):
        orders = {f"o{c}": balanced(terms.orders[c], terms.dialect) for c in possible}
        least = _extreme("least", list(orders))
        yield _Layer({name.replace("r", "s"): e for name, e in found.items()} | orders, row)
        # Whole numbers, but for rounding.
        half = number(0.5)
        yield _Layer(
            {f"r{c}": f"CASE WHEN o{c} <= {least} + {half} THEN s{c} END" for c in possible}, row
        )
    else:
        yield _Layer(found, row)
    yield _Layer({"best": _extreme("greatest", [f"r{c}" for c in possible])}, kept)
    yield _Layer(
        {
            f"e{c}": f"CASE WHEN r{c} - best > {number(UNLIKELY)} THEN exp(r{c} - best) "
            f"ELSE {number(0.0)} END"
            for c in possible
        },
        kept | {"best"},
    )
    parts = [f"e{c}" for c in possible]
    yield _Layer({"total": balanced(parts, terms.dialect)}, kept | {"best", *parts})


def _prediction(labels: Sequence[Label], possible: Sequence[int], dialect: SqlDialect) -> str:
    """Return the label of the best score: the first one, in a tie."""
    mixed = len({type(label) for label in labels}) > 1
    whens = " ".join(
        f"WHEN r{c} = best THEN {dialect.label(str(labels[c]) if mixed else labels[c])}"
        for c in possible
    )
    return f"CASE {whens} END"


def _names(labels: Sequence[Label], columns: Any, dialect: SqlDialect) -> dict[str, str]:
    """Return what the answers are called: by their labels, unless that is taken or too long."""
    schema = columns.columns if isinstance(columns, Design) else columns
    taken = {name.lower() for name in schema.names}
    found = {}
    titles = ["prediction"]
    titles += [f"{kind}_{label}" for kind in ("p", "score") for label in labels]
    for place, title in enumerate(titles):
        name = title
        kind, number = title.partition("_")[0], (place - 1) % max(len(labels), 1)
        if len(name.encode()) > dialect.longest or "\x00" in name:
            name = f"{kind}_{number}"
        while name.lower() in taken:
            name += "_"
        taken.add(name.lower())
        found[title] = name
    return found


def _all(conditions: Sequence[str]) -> str | None:
    """Return conditions joined in halves, so that a thousand of them do not nest too deep."""
    if not conditions:
        return None
    if len(conditions) == 1:
        return conditions[0]
    half = len(conditions) // 2
    return f"({_all(conditions[:half])} AND {_all(conditions[half:])})"


def _extreme(function: str, names: Sequence[str]) -> str:
    """Return the largest or least of several columns; of one, the column."""
    return names[0] if len(names) == 1 else f"{function}({', '.join(names)})"


def product_terms(
    model: NaiveBayesModel,
    columns: Any,
    dialect: SqlDialect,
    filled: Mapping[str, str],
    chosen: Collection[int] = (),
) -> SqlTerms:
    """Return log p(x, class), up to what classes share, of independent columns.

    In columns that are `chosen` by their looks any number has an answer, as in `Product.read`.
    """
    terms = SqlTerms(dialect, len(model.labels), alias=alias_beside(columns))
    names = columns.names
    plain = isinstance(columns, PlainColumns)
    kinds = [NUMBER if plain else column.kind for column in columns.columns]
    for law, group in zip(model.laws, model.product.columns, strict=True):
        if law.is_common:
            continue  # the same for all classes
        for place, j in enumerate(group):
            found = law.cell(place)
            levels = found if isinstance(found, LevelsCell) else None
            if kinds[j] == CATEGORY:
                if hasattr(law, "term_scores"):
                    known = getattr(law, "kind", "words")
                    raise BadSetting(
                        f"{names[j]} holds texts, known by their {known}: a database cannot cut "
                        "them",
                        hint="predict them here, or fit without that column",
                    )
                if levels is None:
                    raise BadSetting(
                        f"{names[j]} holds text, but was learned as numbers",
                        hint="fit the model again with the column as numbers",
                    )
                _tallied(terms, levels, terms.text(names[j]), text=True)
                continue
            cell = terms.number(names[j], kinds[j], filled)
            terms.finite([cell])
            if levels is not None and _are_beyond_doubles(levels):
                _tallied(terms, levels, terms.text(names[j]), text=True)
                continue
            write = WRITERS.get(type(found))
            if write is None:
                raise BadSetting(
                    f"{type(law).__name__} cannot be written as SQL",
                    hint="its family has no `cell`",
                )
            write(terms, found, cell, j in chosen)
    beta = dialect.number(float(model.temperature))
    for c, prior in enumerate(model.log_priors):
        inner = balanced(terms.scores[c], dialect)
        scaled = inner if model.temperature == 1.0 else f"{beta} * {inner}"
        terms.scores[c] = [dialect.number(float(prior)), scaled]
    return terms


def _are_beyond_doubles(found: LevelsCell) -> bool:
    """Whether levels are whole numbers that are no doubles: these are compared as text."""
    known: Any = found.levels
    return any(abs(level) > DOUBLES for level in known)


def _normal(terms: SqlTerms, found: NormalCell, cell: str, chosen: bool) -> None:  # noqa: ARG001
    if found.logarithm:
        cell = f"(CASE WHEN {cell} > {terms.dialect.number(0.0)} THEN ln({cell}) END)"
    diagonal_terms(terms, found.normals, [cell])


def _student(terms: SqlTerms, found: StudentCell, cell: str, chosen: bool) -> None:  # noqa: ARG001
    student_terms(terms, found, cell)


def _levels(terms: SqlTerms, found: LevelsCell, cell: str, chosen: bool) -> None:
    """Look levels up that are numbers; others than whole ones have no answer."""
    if not chosen:
        terms.valid.append(f"({cell} IS NULL OR {cell} = floor({cell}))")
    _tallied(terms, found, cell, text=False)


ALLOWED = {
    ANY: "",
    COUNTS: "{cell} >= {zero}",
    WHOLE: "({cell} >= {zero} AND {cell} = floor({cell}))",
    TRUTHS: "{cell} = {zero} OR {cell} = {one}",
}
"""Which cells have an answer, as conditions."""


def _linear(terms: SqlTerms, found: LinearCell, cell: str, chosen: bool) -> None:
    """Add x·slope + offset, and the same for impossible events."""
    n = terms.dialect.number
    if chosen and found.allowed == WHOLE:
        least = n(0.0)
        cell = f"(CASE WHEN {cell} >= {least} AND {cell} = floor({cell}) THEN {cell} END)"
    allowed = ALLOWED[found.allowed].format(cell=cell, zero=n(0.0), one=n(1.0))
    if allowed and found.blank:
        terms.valid.append(f"({cell} IS NULL OR {allowed})")
    elif allowed:
        terms.valid.append(f"{cell} IS NOT NULL AND {allowed}")
    value = cell
    if found.threshold is not None:
        value = f"CASE WHEN {cell} > {n(float(found.threshold))} THEN {n(1.0)} ELSE {n(0.0)} END"
        value = f"({value})"
    for slopes, offsets, into in (
        (found.slopes, found.offsets, terms.scores),
        (found.order_slopes, found.order_offsets, terms.orders),
    ):
        if slopes is None:
            continue
        for c in range(terms.size):
            parts = []
            line = terms.product(float(slopes[c]), value)
            parts += [] if line is None else [line]
            if offsets is not None and offsets[c] != 0.0:
                parts.append(n(float(offsets[c])))
            if parts:
                into[c].append(terms.skipping(cell, " + ".join(parts)))


def _tallied(terms: SqlTerms, found: LevelsCell, cell: str, *, text: bool) -> None:
    """Look levels up; the last but one entry is for what was never seen."""
    d = terms.dialect
    known: Any = found.levels
    levels = [d.literal(str(v)) if text else d.number(float(v)) for v in known]
    _cases(terms, found, cell, [f"{cell} = {level}" for level in levels])


def _binned(terms: SqlTerms, found: BinsCell, cell: str, chosen: bool) -> None:  # noqa: ARG001
    """Look bins up; the last one has no upper edge."""
    n = terms.dialect.number
    tests = [f"{cell} < {n(edge)}" for edge in found.edges[1:-1]]
    _cases(terms, found, cell, [*tests, f"{cell} IS NOT NULL"])


def _cases(terms: SqlTerms, found: LevelsCell | BinsCell, cell: str, tests: Sequence[str]) -> None:
    n = terms.dialect.number
    for table, into in ((found.table, terms.scores), (found.orders, terms.orders)):
        if table is None:
            continue
        for c in range(terms.size):
            whens = " ".join(
                f"WHEN {test} THEN {n(float(table[level, c]))}" for level, test in enumerate(tests)
            )
            never = n(float(table[-2, c]))
            body = f"CASE {whens} ELSE {never} END" if whens else never
            into[c].append(terms.skipping(cell, body))


WRITERS: dict[type, Callable[[SqlTerms, Any, str, bool], None]] = {
    BinsCell: _binned,
    LevelsCell: _levels,
    LinearCell: _linear,
    NormalCell: _normal,
    StudentCell: _student,
}
"""How each kind of column is written: terms, what its law says, the cell, whether its family was
chosen by looks."""
