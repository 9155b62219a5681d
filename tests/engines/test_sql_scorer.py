"""What a database answers by the SQL of a model is what the model answers."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from suffice import (
    BernoulliNaiveBayes,
    ComplementNaiveBayes,
    GaussianDiscriminant,
    LogisticRegression,
    MultinomialNaiveBayes,
    NaiveBayes,
    Perceptron,
)
from suffice.errors import BadSetting
from suffice.estimators.sql import to_sql
from suffice.families import Bernoulli, Binned, LogNormal
from suffice.sql.dialects import DIALECTS
from tests.engines.sql_tables import copied

HOSTILE = ['a "quoted" one', "two words", "größe ☃", "select", "\"; drop table t; --'", "x" * 63]
TEXTS = ["red", "it's", 'a "b"', "back\\slash", "☃", "'; drop table t; --"]


def answers(connection: Any, query: str) -> list[tuple[Any, ...]]:
    """Return the rows of a query."""
    if type(connection).__module__.startswith("psycopg"):
        return connection.execute(query).fetchall()
    return connection.sql(query).fetchall()


def posteriors(connection: Any, model: Any, table: pa.Table, **settings: Any) -> tuple[Any, Any]:
    """Return classes and probabilities of a table, computed by the database."""
    copied(connection, table.append_column("row", pa.array(range(table.num_rows))), "new rows")
    dialect = "postgres" if type(connection).__module__.startswith("psycopg") else "duckdb"
    query = to_sql(model, dialect, table="new rows", proba=True, **settings)
    found = answers(connection, f'SELECT * FROM ({query}) AS q ORDER BY "row"')
    width = table.num_columns + 1
    chosen = [row[width] for row in found]
    shares = [[np.nan if p is None else p for p in row[width + 1 :]] for row in found]
    return chosen, np.array(shares)


def assert_answers(connection: Any, model: Any, table: pa.Table) -> None:
    """Compare what the database says with what the model says."""
    chosen, found = posteriors(connection, model, table)
    np.testing.assert_allclose(found, model.predict_proba(table), rtol=0.0, atol=1e-9)
    expected = model.predict(table).tolist()
    apart = [place for place, (a, b) in enumerate(zip(chosen, expected, strict=True)) if a != b]
    sorted_ = np.sort(found, axis=1)
    assert all(sorted_[place, -1] - sorted_[place, -2] < 1e-9 for place in apart)


def training_rows(size: int = 400, classes: int = 3) -> tuple[pa.Table, Any]:
    """Return rows of hostile names, of numbers, counts, truths and words, and labels."""
    rng = np.random.default_rng(8)
    labels = rng.integers(0, classes, size)
    table = pa.table(
        {
            HOSTILE[0]: rng.normal(size=size) + labels,
            HOSTILE[1]: 1e8 + rng.integers(-1, 2, size) + labels,
            HOSTILE[2]: 1e-6 * rng.lognormal(size=size) * (1 + labels),
            HOSTILE[3]: rng.poisson(2.0 + labels),
            HOSTILE[4]: rng.random(size) < 0.2 + labels / (classes + 1),
            HOSTILE[5]: rng.choice(TEXTS, size),
        }
    )
    names = np.array([f'it\'s "{c}"; --' for c in range(classes)])
    return table, names[labels]


def far_rows(table: pa.Table) -> pa.Table:
    """Return some rows, among them some that are far out, and a word never seen."""
    some = table.slice(0, 60)
    columns = {name: some.column(name).to_pylist() for name in some.column_names}
    for place, value in enumerate([1e3, -1e6, 1e12, -1e40, 1e130, 4.0, 1e-200]):
        columns[HOSTILE[0]][place] = value
    for place, value in enumerate([0.0, 1e9, -1e20, 1e100], start=10):
        columns[HOSTILE[1]][place] = value
    columns[HOSTILE[5]][20] = "never seen"
    columns[HOSTILE[5]][21] = None
    schema = some.schema
    return pa.table({n: pa.array(v, schema.field(n).type) for n, v in columns.items()})


FORMS = ("shared", "per-class", "diagonal", "shared-diagonal", "spherical")


@pytest.mark.filterwarnings("ignore::suffice.errors.UnitsMatter")
@pytest.mark.parametrize("form", FORMS)
def test_discriminants_answer_in_sql(any_database: Any, form: str) -> None:
    rows, labels = training_rows()
    model = GaussianDiscriminant(form).fit(rows, labels)
    asked = far_rows(rows)
    if form == "per-class":
        asked = asked_of_per_class(asked)
    assert_answers(any_database, model, asked)


def asked_of_per_class(rows: pa.Table) -> pa.Table:
    """Return the rows without words never seen.

    They lie where no class has any variance: few digits are left of any difference between such
    squares, here and there.
    """
    return pa.concat_tables([rows.slice(0, 20), rows.slice(22)])


FAMILIES = {
    HOSTILE[0]: "gaussian", HOSTILE[1]: "shared-gaussian", HOSTILE[2]: LogNormal(),
    HOSTILE[3]: "poisson", HOSTILE[4]: "bernoulli", HOSTILE[5]: "categorical",
}  # fmt: skip
OTHERS = {
    HOSTILE[0]: Binned(edges=(-2.0, 0.0, 0.5, 3.0)), HOSTILE[1]: Bernoulli(threshold=1e8),
    HOSTILE[2]: LogNormal("shared"), HOSTILE[3]: "categorical", HOSTILE[4]: "categorical",
}  # fmt: skip


@pytest.mark.parametrize("families", [FAMILIES, OTHERS])
@pytest.mark.parametrize("settings", [{}, {"smoothing": 0.0}, {"temperature": 0.3}])
def test_naive_bayes_answers_in_sql_and_passes_blanks_over(
    any_database: Any, families: Any, settings: Any
) -> None:
    rows, labels = training_rows()
    model = NaiveBayes(families, **settings).fit(rows, labels)
    asked = far_rows(rows)
    gaps = {}
    for place, name in enumerate(asked.column_names):
        cells = asked.column(name).to_pylist()
        cells[30 + place] = None
        cells[45] = None  # and one row without any cell
        gaps[name] = pa.array(cells, asked.schema.field(name).type)
    assert_answers(any_database, model, pa.table(gaps))


@pytest.mark.parametrize("penalty", [0.0, 0.5])
@pytest.mark.parametrize("classes", [2, 4])
def test_logistic_regression_answers_in_sql(
    any_database: Any, penalty: float, classes: int
) -> None:
    rows, labels = training_rows(classes=classes)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = LogisticRegression(penalty=penalty).fit(rows, labels)
    assert_answers(any_database, model, far_rows(rows))


@pytest.mark.parametrize(
    "model",
    [
        MultinomialNaiveBayes(),
        MultinomialNaiveBayes(smoothing=0.0),
        ComplementNaiveBayes(),
        BernoulliNaiveBayes(threshold=0.0),
    ],
)
def test_counts_answer_in_sql(any_database: Any, model: Any) -> None:
    rng = np.random.default_rng(3)
    counts = rng.poisson(0.7, size=(200, 5)) * 1.0
    rows = pa.table({f"w{j}": counts[:, j] for j in range(5)})
    model.fit(rows, rng.integers(0, 3, 200))
    assert_answers(any_database, model, rows.slice(0, 50))


@pytest.mark.slow
def test_many_classes_and_columns_answer_in_sql(duckdb: Any) -> None:
    rng = np.random.default_rng(4)
    rows = rng.normal(size=(1200, 20))
    labels = rng.integers(0, 60, 1200)
    rows += labels[:, np.newaxis] / 50
    table = pa.table({f"c{j}": rows[:, j] for j in range(20)})
    for form in ("shared", "diagonal"):
        model = GaussianDiscriminant(form).fit(table, labels)
        assert_answers(duckdb, model, table.slice(0, 30))
    few = GaussianDiscriminant("per-class").fit(table, labels % 3)
    assert_answers(duckdb, few, table.slice(0, 30))


def test_rows_with_a_blank_have_no_discriminant(any_database: Any) -> None:
    rows, labels = training_rows()
    model = GaussianDiscriminant("per-class").fit(rows, labels)
    asked = far_rows(rows).slice(0, 3)
    blank = pa.array([None, float("nan"), float("inf")], pa.float64())
    chosen, found = posteriors(any_database, model, asked.set_column(0, HOSTILE[0], blank))
    assert chosen == [None] * 3
    assert np.isnan(found).all()
    assert "has no answer" in to_sql(model)


def test_classes_of_prior_zero_are_never_chosen(any_database: Any) -> None:
    rows, labels = training_rows()
    names = sorted(set(labels.tolist()))
    priors = dict(zip(names, [0.0, 0.4, 0.6], strict=True))
    model = GaussianDiscriminant(priors=priors).fit(rows, labels)
    assert_answers(any_database, model, far_rows(rows))


@pytest.mark.parametrize("labels", [[True, False], [3, -7], ["a" * 80, "a" * 80 + "b"]])
def test_labels_of_every_type_are_answered(any_database: Any, labels: list[Any]) -> None:
    rows = pa.table({"x": [0.0, 1.0, 5.0, 6.5], "prediction": [1.0, 0.0, 3.0, 2.0]})
    model = GaussianDiscriminant().fit(rows, [labels[0]] * 2 + [labels[1]] * 2)
    chosen, _ = posteriors(any_database, model, rows)
    assert chosen == model.predict(rows).tolist()


def test_scores_are_log_joints_up_to_what_classes_share(duckdb: Any) -> None:
    rows, labels = training_rows()
    model = GaussianDiscriminant("per-class").fit(rows, labels)
    _, found = posteriors(duckdb, model, rows.slice(0, 20), scores=True)
    expected = model.log_joint(rows.slice(0, 20))
    np.testing.assert_allclose(found[:, 3:], expected, rtol=1e-9)


def test_a_perceptron_has_classes_and_no_probabilities(any_database: Any) -> None:
    rows = pa.table({"x": [0.0, 1.0, 5.0, 6.5]})
    model = Perceptron().fit(rows, ["a", "a", "b", "b"])
    with pytest.raises(BadSetting, match="no probabilities"):
        to_sql(model, proba=True)
    copied(any_database, rows, "t")
    dialect = "postgres" if type(any_database).__module__.startswith("psycopg") else "duckdb"
    found = answers(any_database, to_sql(model, dialect, table="t"))
    assert dict(found) == dict(
        zip(rows.column("x").to_pylist(), model.predict(rows).tolist(), strict=True)
    )


def test_spark_answers_as_the_models_do(spark: Any) -> None:
    rows, labels = training_rows()
    asked = far_rows(rows)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        logistic = LogisticRegression(penalty=0.5).fit(rows, labels)
    for model in (
        GaussianDiscriminant("shared").fit(rows, labels),
        GaussianDiscriminant("per-class").fit(rows, labels),
        NaiveBayes(FAMILIES).fit(rows, labels),
        NaiveBayes(OTHERS, smoothing=0.0).fit(rows, labels),
        logistic,
    ):
        assert_spark_answers(spark, model, asked)


def test_names_and_labels_of_spark_can_be_anything(spark: Any) -> None:
    rng = np.random.default_rng(1)
    names = ["`tick`", "a.b", "suffice_t", "🌳🌲", "back\\slash", "it's", "x" * 200]
    rows = pa.table({name: rng.poisson(2.0, 60) for name in names})
    labels = np.array(["\\'", "`", "🌳"])[rng.integers(0, 3, 60)]
    for model in (GaussianDiscriminant("spherical"), NaiveBayes(), MultinomialNaiveBayes()):
        assert_spark_answers(spark, model.fit(rows, labels), rows.slice(0, 20))


def assert_spark_answers(spark: Any, model: Any, asked: pa.Table) -> None:
    """Compare what Spark says with what the model says."""
    if getattr(model, "covariance", None) == "per-class":
        asked = asked_of_per_class(asked)
    numbered = asked.append_column("row", pa.array(range(asked.num_rows)))
    given = spark.createDataFrame(numbered.to_pylist(), schema=_spark_types(numbered))
    given.createOrReplaceTempView("asked_rows")
    query = to_sql(model, "spark", table="asked_rows", proba=True)
    found = spark.sql(query).orderBy("row").collect()
    size = len(model.classes_)
    shares = np.array([list(row)[-size:] for row in found], dtype=float)
    np.testing.assert_allclose(shares, model.predict_proba(asked), rtol=0.0, atol=1e-9)
    assert [row.prediction for row in found] == model.predict(asked).tolist()


def _spark_types(table: pa.Table) -> str:
    types = {"double": "DOUBLE", "int64": "BIGINT", "bool": "BOOLEAN", "string": "STRING"}
    quoted = DIALECTS["spark"].identifier
    return ", ".join(f"{quoted(f.name)} {types[str(f.type)]}" for f in table.schema)


def test_dialects_that_are_not_known_are_refused() -> None:
    model = GaussianDiscriminant().fit([[1.0], [2.0], [5.0], [6.0]], list("aabb"))
    with pytest.raises(BadSetting, match="'oracle' is not known"):
        to_sql(model, "oracle")
