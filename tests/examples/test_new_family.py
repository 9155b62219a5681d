"""A family of columns in one place: registered by one call, it is known everywhere."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pytest
from scipy.special import gammaln
from scipy.stats import geom

from suffice import NaiveBayes, load
from suffice.errors import BadFile, BadRows, BadSetting
from suffice.estimators.sql import to_sql
from suffice.families import BaseFamily, LinearLaws, register_family
from suffice.models.naive_bayes.asked_of_families import (
    Counts,
    EstimatedColumns,
    SumEvidence,
    ratio,
)
from suffice.models.naive_bayes.column_blocks import read_numbers
from suffice.models.naive_bayes.families.linear_laws import LINEAR_FORM, class_totals, stacked
from suffice.models.naive_bayes.families.poisson import counts_outside
from suffice.models.naive_bayes.families.protocol import Outside, Scores
from suffice.models.naive_bayes.pictures import CountsLaw, counts_law
from suffice.models.naive_bayes.registered_families import CLASSES, FAMILIES
from suffice.rows.category_codes import refuse_fractions
from suffice.storage.describe import describe
from suffice.storage.model_file import read_model

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

Array = Any


# The family: everything about it is here


@dataclass(frozen=True, slots=True)
class Waiting(BaseFamily):
    """Failures before the first success: P(x | c) = q_c(1 - q_c)^x, with 1/q_c - 1 the mean."""

    name: ClassVar[str] = "waiting"
    smooths: ClassVar[bool] = True
    becomes: ClassVar[str] = "WaitingColumns"
    statistics: ClassVar[str] = "Totals"

    def read(self, table: Any, columns: Sequence[int], *, learning: bool = True) -> Array:
        rows = read_numbers(table, columns, self.name)
        for place, j in enumerate(columns):
            name = f"column {j}" if table.names is None else table.names[j]
            refuse_fractions(rows[:, place], name, "waiting times are counted")
            if (rows[:, place] < 0.0).any():
                row = int((rows[:, place] < 0.0).argmax())
                raise BadRows.of_cell(row, name, "a time is negative", hint="count from 0")
        return rows

    def summarize(self, block: Array, codes: Array, size: int, weights: Array) -> list[Any]:
        return class_totals(block, codes, size, weights)

    def estimate(self, groups: Sequence[Any], alpha: float) -> tuple[WaitingColumns, tuple[()]]:
        sums, held = stacked(tuple(groups))
        return WaitingColumns(*_parameters(sums, held, alpha), None, None, None), ()

    def left_out(
        self, groups: Sequence[Any], alpha: float, block: Array, codes: Array, weights: Array
    ) -> Scores:
        sums, held = stacked(tuple(groups))
        held = np.broadcast_to(held, sums.shape)
        logs = np.empty((len(block), len(sums)))
        for c in range(len(sums)):
            own = ((codes == c) * weights)[:, np.newaxis] * ~np.isnan(block)
            cells = np.nan_to_num(block)
            slopes, offsets = _parameters(sums[c] - own * cells, held[c] - own, alpha)
            logs[:, c] = np.where(np.isnan(block), 0.0, cells * slopes + offsets).sum(axis=1)
        return Scores(logs, None)

    def sums(self) -> Counts:
        return Counts(whole=True, most=1e300)

    def outside(self, cells: Array) -> Outside | None:
        return counts_outside(cells)

    def evidence(self, groups: Sequence[Any], alpha: float, law: Any, block: Array) -> SumEvidence:
        sums, held = stacked(tuple(groups))

        def log_masses(x: Array, total: float, weight: float) -> Array:
            # Of W + 1 waiting times with the sum τ all are as likely: C(τ-x+W-1, W-1)/C(τ+W, W).
            rest = total - x
            ways = gammaln(rest + weight) - gammaln(rest + 1.0) - gammaln(weight)
            every = gammaln(total + weight + 1.0) - gammaln(total + 1.0) - gammaln(weight + 1.0)
            return ways - every

        return SumEvidence(sums, np.broadcast_to(held, sums.shape), np.asarray(block), log_masses)

    def estimates(self, names: Sequence[str], own: Sequence[Any]) -> list[EstimatedColumns]:
        counts = np.array([part.counts for part in own])
        means = ratio(np.array([part.sums for part in own]), counts)
        return [EstimatedColumns(list(names), "waiting time", means, counts, means * (1.0 + means))]

    def suits(self, cells: Array) -> bool:
        there = cells[~np.isnan(cells)]
        return bool(len(there) and ((there >= 0.0) & (there == np.floor(there))).all())


@dataclass(frozen=True, eq=False)
class WaitingColumns(LinearLaws):
    """log p(x | c) = Σ_j x_j log(1 - q_cj) + log q_cj."""

    form: ClassVar[Mapping[str, str]] = LINEAR_FORM
    allowed: ClassVar[str] = "whole"

    @property
    def chances(self) -> Array:
        assert self.offsets is not None
        return np.exp(self.offsets)

    def flaw(self, sizes: dict[str, int]) -> str:
        whole = np.exp(self.slopes) + self.chances
        return "" if np.allclose(whole, 1.0, atol=1e-6) else "has chances that do not add up to 1"

    def carrier(self, block: Array) -> Array:
        return np.zeros(len(block))

    def sample(self, codes: Array, rng: np.random.Generator) -> Array:
        return rng.geometric(self.chances[codes]).astype(np.float64) - 1.0

    def estimation_variance(self, block: Array, omegas: Array) -> float:
        return 0.0

    def described(self, column: int, code: int) -> dict[Any, float]:
        return {"chance": float(self.chances[code, column])}

    def picture(self, column: int, name: str) -> CountsLaw:
        q = self.chances[:, column]
        return counts_law(
            1.0 / q - 1.0, np.sqrt(1.0 - q) / q, lambda at: at * np.log1p(-q) + np.log(q)
        )


def _parameters(sums: Array, held: Array, alpha: float) -> tuple[Array, Array]:
    """Return log(1 - q) and log q: α successes and α failures are added."""
    chance = (held + alpha) / (held + sums + 2.0 * alpha)
    return np.log1p(-chance), np.log(chance)


# What everybody else makes of it


@pytest.fixture(autouse=True)
def registered() -> Iterator[None]:
    from suffice.models.naive_bayes.families.registry import NAMED

    register_family(Waiting(), WaitingColumns)
    yield
    for held in (NAMED, FAMILIES):
        held.pop("waiting")
    for name in ("Waiting", "WaitingColumns"):
        del CLASSES[name]


RNG = np.random.default_rng(3)
Y = np.repeat(["soon", "late"], 60)
X = np.column_stack([
    RNG.geometric(np.where(Y == "soon", 0.6, 0.2)) - 1.0,
    RNG.geometric(np.where(Y == "soon", 0.5, 0.3)) - 1.0,
    RNG.normal(size=120) + (Y == "soon"),
])  # fmt: skip
HOLES = np.where(RNG.random(X.shape) < 0.1, np.nan, X)
SETTING = {0: "waiting", 1: Waiting(), 2: "gaussian"}


def test_it_learns_and_answers_as_its_law_says() -> None:
    model = NaiveBayes("waiting").fit(X[:, :2], Y)
    late, soon = (X[label == Y, :2] for label in ("late", "soon"))
    q = [(60 + 1) / (60 + part.sum(axis=0) + 2) for part in (late, soon)]
    assert model.parameters_["x0"]["soon"]["chance"] == pytest.approx(q[1][0])
    logs = np.stack([geom.logpmf(X[:, :2] + 1, chance).sum(axis=1) for chance in q], axis=1)
    expected = np.exp(logs - np.logaddexp.reduce(logs, axis=1, keepdims=True))
    assert model.predict_proba(X[:, :2]) == pytest.approx(expected)
    assert model.families_["x1"] == "waiting"
    assert NaiveBayes({0: "common waiting"}).fit(X, Y).families_["x0"] == "common waiting"


def test_rows_come_and_go() -> None:
    whole = NaiveBayes(SETTING).fit(HOLES, Y)
    parts = [NaiveBayes(SETTING).fit(HOLES[i::2], Y[i::2]) for i in (0, 1)]
    grown = NaiveBayes(SETTING).fit(HOLES[::2], Y[::2]).partial_fit(HOLES[1::2], Y[1::2])
    expected = whole.predict_proba(X)
    assert (parts[0] + parts[1]).predict_proba(X) == pytest.approx(expected)
    assert grown.predict_proba(X) == pytest.approx(expected)
    assert grown.forget(HOLES[1::2], Y[1::2]).predict_proba(X) == pytest.approx(
        parts[0].predict_proba(X)
    )
    left = whole.leave_one_out(HOLES, Y)
    others = np.arange(len(Y)) != 7
    again = NaiveBayes(SETTING).fit(HOLES[others], Y[others])
    assert left.log_posterior[7] == pytest.approx(again.predict_log_proba(HOLES[7:8])[0])


def test_it_explains_draws_and_judges() -> None:
    model = NaiveBayes(SETTING).fit(X, Y)
    found = model.explain(X[:3])
    odds = np.diff(model.predict_log_proba(X[:3]), axis=1)[:, 0]
    assert np.abs(found.contributions.sum(axis=1) + found.baseline) == pytest.approx(np.abs(odds))
    drawn, labels = model.sample(4000, random_state=0)
    mean = np.asarray(drawn, dtype=np.float64)[np.asarray(labels) == "late", 0].mean()
    q = model.parameters_["x0"]["late"]["chance"]
    assert mean == pytest.approx(1 / q - 1, rel=0.1)
    p = NaiveBayes("waiting").fit(X[:, :1], Y).typicality([[0.0], [3.0], [40.0]])
    assert ((p > 0.0) & (p <= 1.0)).all()
    assert (p[2] < 0.05).all()
    assert p[0].max() > 0.5


def test_p_values_of_rows_of_a_class_are_even() -> None:
    # A p-value below 0.2 comes up in at most 0.2 of the rows of a class, but for chance.
    rows = np.random.default_rng(0).geometric(0.05, (400, 1)) - 1.0
    model = NaiveBayes("waiting").fit(rows[:40], ["a"] * 20 + ["b"] * 20)
    p = model.typicality(rows[40:])[:, 0]
    assert 0.1 < (p <= 0.2).mean() < 0.3


def test_files_hold_it_and_are_checked(tmp_path: Path) -> None:
    model = NaiveBayes(SETTING).fit(HOLES, Y)
    model.save(tmp_path / "m.suffice")
    same = load(tmp_path / "m.suffice")
    assert np.array_equal(same.predict_proba(X), model.predict_proba(X))
    assert np.array_equal((same + model).classes_, model.classes_)
    stored = read_model(tmp_path / "m.suffice")
    told = describe(stored)
    assert {column.name: column.family for column in told.columns}["x1"] == "waiting"
    law = stored.state["model"].laws[0]
    law.slopes[0, 0] = np.log(0.123)
    assert law.flaw({})


def test_a_file_of_a_family_that_is_not_known_is_refused(tmp_path: Path) -> None:
    NaiveBayes(SETTING).fit(X, Y).save(tmp_path / "m.suffice")
    held = {name: CLASSES.pop(name) for name in ("Waiting", "WaitingColumns")}
    try:
        with pytest.raises(BadFile):
            load(tmp_path / "m.suffice")
    finally:
        CLASSES.update(held)


def test_databases_add_it_up_and_score_it(tmp_path: Path) -> None:
    duckdb = pytest.importorskip("duckdb")
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(HOLES, columns=["a", "b", "c"]).assign(y=Y)
    setting = {"a": "waiting", "b": "waiting", "c": "gaussian"}
    model = NaiveBayes(setting).fit(frame[["a", "b", "c"]], Y)
    with duckdb.connect(str(tmp_path / "t.db")) as database:
        database.register("given", frame)
        database.execute("CREATE TABLE t AS SELECT * FROM given")
        summed = NaiveBayes(setting).fit(database.table("t"), target="y")
        assert summed.predict_proba(frame[["a", "b", "c"]]) == pytest.approx(
            model.predict_proba(frame[["a", "b", "c"]])
        )
        found = database.sql(to_sql(model, table="t", proba=True)).df()
    assert found[["p_late", "p_soon"]].to_numpy() == pytest.approx(
        model.predict_proba(frame[["a", "b", "c"]]), abs=1e-9
    )


def test_it_is_drawn() -> None:
    from matplotlib.figure import Figure

    from suffice.plots import draw_column

    model = NaiveBayes(SETTING).fit(X, Y)
    ax = draw_column(Figure().add_subplot(), model, "x0", X, Y)
    heights = ax.lines[0].get_ydata()
    q = model.parameters_["x0"]["late"]["chance"]
    assert heights[0] == pytest.approx(q)
    assert ax.get_ylabel() == "probability"


def test_what_is_no_family_is_not_registered() -> None:
    @dataclass(frozen=True)
    class Half(BaseFamily):
        name: ClassVar[str] = "half"

    with pytest.raises(BadSetting, match="Half is not a family of columns: it lacks becomes"):
        register_family(Half(), WaitingColumns)  # type: ignore[arg-type]

    @dataclass(frozen=True)
    class Wider(Waiting):
        more: int = 0

    with pytest.raises(BadSetting, match="the form of Wider"):
        register_family(Wider(), WaitingColumns)
