"""Scores of models as sums of SQL expressions, one list of terms for each class."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.columns.design import Design
from suffice.columns.schema import PlainColumns
from suffice.errors import BadSetting
from suffice.models.gaussian.diagonal_normals import DiagonalNormals
from suffice.models.gaussian.full_normals import FullNormals, written_out
from suffice.models.gaussian.predictive.averaged_laws import AveragedLaws
from suffice.models.mixture.laws import MixtureLaws
from suffice.rows.cells import BOOLEAN, CATEGORY, NUMBER

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from suffice.models.gaussian.model import GenerativeModel
    from suffice.models.linear.form import LinearForm
    from suffice.models.naive_bayes.asked_of_families import StudentCell
    from suffice.sql.dialects import SqlDialect

FAR = 1e140
"""Standard deviations at which cells are held: beyond, squares would leave the range."""
ALIAS = "suffice_t"
"""What the table is called in a scorer."""


@dataclass(slots=True, eq=False)
class SqlTerms:
    """What a scorer is made of.

    cells   expressions over the columns of the table, by the name they get
    then    expressions over those, by name
    scores  for each class, what adds up to its score
    orders  for each class, what adds up to the number of impossible events
    valid   what must hold of a row, for there to be an answer
    blanks  whether blank numbers are skipped
    alias   what the table is called: no column of the model's is
    """

    dialect: SqlDialect
    size: int
    cells: dict[str, str] = field(default_factory=dict)
    then: dict[str, str] = field(default_factory=dict)
    scores: list[list[str]] = field(init=False)
    orders: list[list[str]] = field(init=False)
    valid: list[str] = field(default_factory=list)
    blanks: bool = True
    alias: str = ALIAS

    def __post_init__(self) -> None:
        """Begin with nothing."""
        self.scores = [[] for _ in range(self.size)]
        self.orders = [[] for _ in range(self.size)]

    # Cells

    def number(self, name: str, kind: str, filled: Mapping[str, str]) -> str:
        """Return the name of a column as a double: NULL where blank, also where NaN."""
        cell = self.dialect.identifier(name)
        if name in filled:
            cell = filled[name]
        elif kind == BOOLEAN:
            cell = self.dialect.as_double(f"CAST({self.alias}.{cell} AS INT)")
        else:
            number = self.dialect.as_double(f"{self.alias}.{cell}")
            cell = f"CASE WHEN NOT ({self.dialect.is_nan(number)}) THEN {number} END"
        return self._named("x", cell)

    def text(self, name: str) -> str:
        """Return the name of a column as text: NULL where blank, also where empty."""
        cell = f"CAST({self.alias}.{self.dialect.identifier(name)} AS {self.dialect.text})"
        return self._named("x", f"NULLIF({cell}, '')")

    def _named(self, letter: str, expression: str) -> str:
        name = f"{letter}{len(self.cells)}"
        self.cells[name] = expression
        return name

    def centred(self, cell: str, origin: float, scale: float) -> str:
        """Return the name of (x - origin)/scale, held within what can be squared."""
        n = self.dialect.number
        with np.errstate(over="ignore"):
            low, high = origin - FAR * scale, origin + FAR * scale
        low, high = max(low, -_MAX / 4.0), min(high, _MAX / 4.0)
        # Neither function may see a NULL here: they would pass it over, and not on.
        held = (
            f"CASE WHEN {cell} > {n(high)} THEN {n(high)} "
            f"WHEN {cell} < {n(low)} THEN {n(low)} ELSE {cell} END"
        )
        gap = f"({held} - {n(origin)})"
        if self.dialect.underflows:
            gap = f"(CASE WHEN abs{gap} < {n(scale / FAR)} THEN {n(0.0)} ELSE {gap} END)"
        name = f"z{len(self.then)}"
        self.then[name] = f"{gap} / {n(scale)}" if scale != 1.0 else gap
        return name

    def finite(self, cells: Sequence[str]) -> None:
        """Let rows with an infinite cell have no answer."""
        most = self.dialect.number(_MAX)
        self.valid += [f"(({cell}) IS NULL OR abs({cell}) <= {most})" for cell in cells]

    def product(self, factor: float, cell: str) -> str | None:
        """Return factor·cell; None where that is nothing."""
        if abs(factor) < 1e-120:
            return None
        return f"{self.dialect.number(float(factor))} * {cell}"

    def skipping(self, cell: str, expression: str) -> str:
        """Return an expression that is zero where the cell is blank."""
        return f"CASE WHEN {cell} IS NULL THEN {self.dialect.number(0.0)} ELSE {expression} END"


_MAX = float(np.finfo(np.float64).max)
"""The largest double: a cell beyond it is infinite, and its row has no answer."""


def alias_beside(columns: Any) -> str:
    """Return what the table may be called: a column of that name would be read in its place.

    >>> alias_beside(PlainColumns(3))
    'suffice_t'
    """
    schema = columns.columns if isinstance(columns, Design) else columns
    taken = {name.lower() for name in schema.names}
    alias = ALIAS
    while alias in taken:
        alias += "_"
    return alias


def balanced(terms: Sequence[str], dialect: SqlDialect) -> str:
    """Return a sum with brackets halving it: a thousand terms in a row would nest too deep.

    >>> from suffice.sql.dialects import DIALECTS
    >>> balanced(["a", "b", "c"], DIALECTS["duckdb"])
    '(a + (b + c))'
    """
    if not terms:
        return dialect.number(0.0)
    if len(terms) == 1:
        return terms[0]
    half = len(terms) // 2
    return f"({balanced(terms[:half], dialect)} + {balanced(terms[half:], dialect)})"


# Models whose rows are coded as numbers


def coded_cells(terms: SqlTerms, columns: Any, filled: Mapping[str, str]) -> list[str]:
    """Return the names of the numbers that rows are coded as."""
    design = columns if isinstance(columns, Design) else None
    schema = columns.columns if design is not None else columns
    if isinstance(schema, PlainColumns):
        return [terms.number(name, NUMBER, filled) for name in schema.names]
    n = terms.dialect.number
    found: list[str] = []
    kept = None if design is None or design.kept is None else set(design.kept.tolist())
    start = 0
    for name, column in zip(schema.names, schema.columns, strict=True):
        places = range(start, start + column.width)
        start += column.width
        if column.kind != CATEGORY:
            found.append(terms.number(name, column.kind, filled))
            continue
        text = terms.text(name)
        known = [level for level in column.levels if level is not None]
        for place, level in zip(places, column.levels, strict=True):
            if kept is not None and place not in kept:
                continue
            usual = 0.0
            if design is not None and design.usual is not None:
                usual = float(design.usual[len(found)])
            same = _is(terms, text, level)
            others = ", ".join(terms.dialect.literal(str(v)) for v in known)
            other = f"WHEN {text} IN ({others}) THEN {n(0.0)} " if known else ""
            blank = f"WHEN {text} IS NULL THEN {n(0.0)} " if None in column.levels else ""
            coded = f"c{len(terms.then)}"
            terms.then[coded] = f"CASE WHEN {same} THEN {n(1.0)} {blank}{other}ELSE {n(usual)} END"
            found.append(coded)
    return found


def _is(terms: SqlTerms, text: str, level: object) -> str:
    return f"{text} IS NULL" if level is None else f"{text} = {terms.dialect.literal(str(level))}"


def linear_terms(
    form: LinearForm, columns: object, dialect: SqlDialect, filled: Mapping[str, str]
) -> SqlTerms:
    """Return weights·(x - origin) + offsets."""
    terms = SqlTerms(dialect, len(form.labels), blanks=False, alias=alias_beside(columns))
    cells = coded_cells(terms, columns, filled)
    terms.finite([cell for cell in cells if cell in terms.cells])
    spread = np.abs(form.weights).max(axis=0)
    inner = _layered(terms, cells)
    for c in range(terms.size):
        terms.scores[c].append(dialect.number(float(form.offsets[c])))
    for j, cell in enumerate(inner):
        if spread[j] == 0.0:
            continue
        scale = float(np.ldexp(1.0, -int(np.frexp(spread[j])[1])))
        z = terms.centred(cell, float(form.origin[j]), scale)
        _add(terms, [terms.product(float(w) * scale, z) for w in form.weights[:, j]])
    terms.valid += [f"{cell} IS NOT NULL" for cell in terms.cells if cell in cells]
    return terms


def _layered(terms: SqlTerms, cells: Sequence[str]) -> list[str]:
    """Return cells as expressions that may stand anywhere: coded ones are written out."""
    return [f"({terms.then.pop(cell)})" if cell in terms.then else cell for cell in cells]


def _add(terms: SqlTerms, products: Sequence[str | None]) -> None:
    for c, product in enumerate(products):
        if product is not None:
            terms.scores[c].append(product)


def refuse_curved_laws(model: GenerativeModel) -> None:
    """Refuse Student's t and averages: they are no sum of squares and no single SELECT."""
    if isinstance(written_out(model.densities), FullNormals | DiagonalNormals):
        return
    if isinstance(model.densities, MixtureLaws):
        raise BadSetting(
            "classes that are mixtures are not written in SQL: only normal classes are",
            hint="predict where the model is, or fit gda or qda",
        )
    averaged = isinstance(model.densities, AveragedLaws)
    what = "an average of several models" if averaged else "Student's t (predictive)"
    raise BadSetting(
        f"{what} is not written in SQL: only normal classes are",
        hint="fit without predictive, average and temperature, or predict where the model is",
    )


def normal_terms(
    model: GenerativeModel, columns: object, dialect: SqlDialect, filled: Mapping[str, str]
) -> SqlTerms:
    """Return log p(x, class), up to what classes share, of normal classes."""
    normals = written_out(model.densities)
    assert isinstance(normals, FullNormals | DiagonalNormals)
    blanks = not isinstance(normals, FullNormals)
    terms = SqlTerms(dialect, len(model.labels), blanks=blanks, alias=alias_beside(columns))
    cells = coded_cells(terms, columns, filled)
    terms.finite([cell for cell in cells if cell in terms.cells])
    inner = _layered(terms, cells)
    for c, prior in enumerate(model.log_priors):
        terms.scores[c].append(dialect.number(float(prior)))
    if not isinstance(normals, FullNormals):
        diagonal_terms(terms, normals, inner)
        return terms
    scale = normals.scale
    z = {
        j: terms.centred(inner[j], float(normals.origin[j]), float(scale[j]))
        for j in np.flatnonzero(normals.active)
    }
    terms.valid += [f"{cell} IS NOT NULL" for cell in terms.cells if cell in cells]
    if normals.is_shared:
        weights, offsets = normals.linear
        for c in range(terms.size):
            terms.scores[c].append(dialect.number(float(offsets[c])))
        for j, cell in z.items():
            _add(terms, [terms.product(float(w * scale[j]), cell) for w in weights[:, j]])
        return terms
    matrices, shifts = normals.quadratic
    for c in range(terms.size):
        terms.scores[c].append(dialect.number(-float(normals.log_volumes[c])))
        for i in z:
            row = [terms.product(float(matrices[c, i, j] * scale[j]), z[j]) for j in z]
            whole = [term for term in row if term is not None]
            if not whole and shifts[c, i] == 0.0:
                continue
            whole.append(dialect.number(-float(shifts[c, i])))
            square = f"power({balanced(whole, dialect)}, 2)"
            terms.scores[c].append(f"{dialect.number(-0.5)} * {square}")
    return terms


def student_terms(terms: SqlTerms, found: StudentCell, cell: str) -> None:
    """Add a column that is a Student t in every class; a blank cell adds nothing."""
    n = terms.dialect.number
    z = terms.centred(cell, found.origin, found.scale)
    low = float(found.origin_low / found.scale)
    for c in range(terms.size):
        location, f = float(found.locations[c]), float(found.degrees[c])
        unit = float(found.spreads[c] * np.sqrt(f))
        square = f"power(({z} - {n(location + low)}) / {n(unit)}, 2)"
        fall = f"{n(-(f + 1.0) / 2.0)} * ln({n(1.0)} + {square})"
        terms.scores[c].append(terms.skipping(z, f"{fall} + {n(float(found.levels[c]))}"))


def diagonal_terms(terms: SqlTerms, normals: DiagonalNormals, cells: Sequence[str]) -> None:
    """Add normal columns; a blank cell adds nothing."""
    n = terms.dialect.number
    slopes = np.where(normals.active, normals.means / np.square(normals.deviations), 0.0)
    for j in map(int, np.flatnonzero(normals.active)):
        z = terms.centred(cells[j], float(normals.origin[j]), float(normals.scale[j]))
        low = float(normals.origin_low[j] / normals.scale[j])
        for c in range(terms.size):
            mean = float(normals.means[c, j])
            if normals.is_shared:
                slope = float(slopes[c, j])
                line = terms.product(slope, z)
                offset = n(-slope * (low + mean / 2.0))
                term = offset if line is None else f"{line} + {offset}"
            else:
                deviation = float(normals.deviations[c, j])
                square = f"power(({z} - {n(mean + low)}) / {n(deviation)}, 2)"
                term = f"{n(-0.5)} * {square} - {n(float(np.log(deviation)))}"
            terms.scores[c].append(terms.skipping(z, term))
