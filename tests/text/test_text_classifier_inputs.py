"""Documents wherever they are: lists, series, frames, files, databases; and scikit-learn's ways."""

from __future__ import annotations

import io
import pickle
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone, is_classifier
from sklearn.exceptions import NotFittedError, SkipTestWarning
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import estimator_checks_generator

import suffice
from suffice import TextClassifier
from suffice.errors import (
    BadLabels,
    BadRows,
    ColumnMismatch,
    NotANumber,
    SufficeError,
)
from suffice.sql.asked import sums_asked

if TYPE_CHECKING:
    from pathlib import Path

WORDS = {"spam": ["cheap", "pills", "now", "£££"], "ham": ["lunch", "at", "one", "meeting"]}
EVENTS = ("both", "language", "boolean", "multinomial", "bernoulli", "complement")


def corpus(size: int = 60, seed: int = 0) -> tuple[list[str], list[str]]:
    rng = np.random.default_rng(seed)
    labels = [["ham", "spam"][i % 2] for i in range(size)]
    return [" ".join(rng.choice([*WORDS[y], "the", "a"], 5)) for y in labels], labels


TEXTS, LABELS = corpus()


def proba(model: TextClassifier, asked: Any = TEXTS) -> Any:
    return model.predict_proba(asked)


# Here


@pytest.mark.parametrize(
    "given",
    [
        tuple, np.array, lambda texts: np.array(texts, dtype=object),
        lambda texts: np.array(texts, dtype=object)[:, np.newaxis],
        lambda texts: pd.Series(texts, index=np.arange(len(texts)) + 7), pl.Series, pa.array,
        lambda texts: pd.Series(texts, dtype="string"), lambda texts: pa.chunked_array([texts]),
        lambda texts: pd.DataFrame({"text": texts}), lambda texts: pl.DataFrame({"text": texts}),
        lambda texts: pa.table({"text": texts}),
        lambda texts: pd.DataFrame({"size": 1.5, "text": texts, "flag": True}),
        lambda texts: [text.encode() for text in texts], lambda texts: map(str, texts),
        lambda texts: [bytearray(text.encode()) for text in texts],
    ],
)  # fmt: skip
def test_documents_may_come_in_any_container(given: Any) -> None:
    expected = proba(TextClassifier().fit(TEXTS, LABELS))
    model = TextClassifier().fit(given(TEXTS), LABELS)
    np.testing.assert_array_equal(proba(model), expected)
    np.testing.assert_array_equal(proba(model, given(TEXTS)), expected)
    weights = [2.0, *[0.0] * 4, *[1.0] * 55]
    if not isinstance(given(TEXTS), map):
        ours = TextClassifier().fit(given(TEXTS), LABELS, sample_weight=weights)
        theirs = TextClassifier().fit(TEXTS, LABELS, sample_weight=weights)
        np.testing.assert_array_equal(proba(ours), proba(theirs))


def test_columns_of_text_are_joined_and_found_by_name() -> None:
    frame = pd.DataFrame({"subject": TEXTS, "n": 1, "body": TEXTS[::-1], "y": LABELS})
    frame.loc[3, "subject"] = None
    model = TextClassifier().fit(frame.drop(columns="y"), LABELS)
    assert model.feature_names_in_.tolist() == ["subject", "body"]
    both = [f"{a}\n{b}" for a, b in zip(TEXTS, TEXTS[::-1], strict=True)]
    both[3] = TEXTS[::-1][3]
    expected = proba(TextClassifier().fit(both, LABELS), both)
    np.testing.assert_array_equal(proba(model, frame), expected)
    np.testing.assert_array_equal(proba(model, frame[["body", "y", "subject"]]), expected)
    np.testing.assert_array_equal(proba(model, both), expected)
    blank = pl.DataFrame({"subject": [None, None], "body": TEXTS[:2]})
    np.testing.assert_array_equal(proba(model, blank), proba(model, TEXTS[:2]))
    named = TextClassifier().fit(frame, target="y")
    np.testing.assert_array_equal(proba(named, frame), expected)
    with pytest.raises(ColumnMismatch, match="no column 'subject', where the texts were"):
        model.predict(frame[["body"]])
    with pytest.raises(NotANumber, match="body holds numbers, and held texts at fit"):
        model.predict(frame.assign(body=5.0))


def test_models_of_other_columns_are_not_merged() -> None:
    one = TextClassifier().fit(pd.DataFrame({"a": TEXTS}), LABELS)
    other = TextClassifier().fit(pd.DataFrame({"b": TEXTS}), LABELS)
    listed = TextClassifier().fit(TEXTS, LABELS)
    with pytest.raises(SufficeError, match="columns are not the same"):
        one + other
    for merged in (one + listed, listed + one):
        assert merged.feature_names_in_.tolist() == ["a"]
    assert not hasattr(listed.partial_fit(pd.DataFrame({"c": TEXTS}), LABELS), "feature_names_in_")


@pytest.mark.parametrize(
    ("given", "kind", "told"),
    [
        ("one text", BadRows, "not one string"), (b"bytes", BadRows, "not one string"),
        (None, BadRows, "not None"), (7, BadRows, "not 7"),
        (["a", None, "b"], BadRows, "document 1 is None, not text"),
        (["a", "b", 7.5], BadRows, r"document 2 is 7\.5, not text"),
        (pl.Series(["a", None, "b"]), BadRows, "document 1 is None"),
        (pd.Series(["a", np.nan, "b"]), BadRows, "document 1 is nan"),
        ([["a"], ["b"], ["c"]], BadRows, r"document 0 is \['a'\]"),
        ([], BadRows, "0 sample"), (np.zeros(3), BadRows, r"document 0 is 0\.0"),
        (np.zeros((3, 2)), NotANumber, "no text in the 2 columns"),
        (csr_array(np.eye(3)), NotANumber, "sparse rows"),
        (pd.DataFrame({"a": [1, 2, 3]}), NotANumber, "no text in the 1 columns"),
        (np.full((3, 1, 1), "a"), BadRows, r"shape \(3, 1, 1\)"),
    ],
)  # fmt: skip
def test_what_is_no_document_is_refused_with_its_place(given: Any, kind: type, told: str) -> None:
    with pytest.raises(kind, match=told) as error:
        TextClassifier().fit(given, ["x", "y", "x"])
    assert "\nHint: " in str(error.value)
    with pytest.raises(kind, match=told):
        TextClassifier().fit(TEXTS, LABELS).predict(given)


def test_labels_that_do_not_belong_to_the_documents_are_refused() -> None:
    with pytest.raises(SufficeError, match="inconsistent"):
        TextClassifier().fit(TEXTS, LABELS[:-1])
    with pytest.raises(BadLabels):
        TextClassifier().fit(TEXTS, None)


# Elsewhere


def tables(folder: Path) -> dict[str, Any]:
    """Return the same documents in files and tables of every kind."""
    rows = {"id": list(range(60)), "subject": TEXTS, "body": TEXTS[::-1], "label": LABELS}
    table = pa.table({**rows, "weight": [1.0 + i % 3 for i in range(60)]})
    pq.write_table(table, folder / "mails.parquet", row_group_size=17)
    table.to_pandas().to_csv(folder / "mails.csv", index=False)
    (folder / "parts").mkdir()
    for i in range(3):
        pq.write_table(table.slice(20 * i, 20), folder / "parts" / f"{i}.parquet")
    return {
        "parquet": folder / "mails.parquet",
        "csv": str(folder / "mails.csv"),
        "glob": str(folder / "parts" / "*.parquet"),
        "stream": table.to_reader(max_chunksize=7),
        "frame": table,
    }


@pytest.mark.parametrize("event", ["both", "multinomial"])
@pytest.mark.parametrize("kind", ["parquet", "csv", "glob", "stream", "frame"])
def test_a_source_is_learned_as_the_list_is(event: str, kind: str, tmp_path: Path) -> None:
    source = tables(tmp_path)[kind]
    both = [f"{a}\n{b}" for a, b in zip(TEXTS, TEXTS[::-1], strict=True)]
    weights = [1.0 + i % 3 for i in range(60)]
    listed = TextClassifier(event).fit(both, LABELS, sample_weight=weights)
    model = TextClassifier(event).fit(source, target="label", sample_weight="weight")
    assert model.feature_names_in_.tolist() == ["subject", "body"]
    np.testing.assert_array_equal(proba(model, both), proba(listed, both))
    place = tmp_path / "model"
    model.save(place)
    np.testing.assert_array_equal(proba(suffice.load(place), both), proba(listed, both))


def test_a_table_of_a_database_is_streamed_out(tmp_path: Path) -> None:
    duckdb = pytest.importorskip("duckdb")
    tables(tmp_path)
    connection = duckdb.connect()
    relation = connection.sql(f"SELECT * EXCLUDE weight FROM '{tmp_path}/mails.parquet'")
    model = TextClassifier().fit(relation, target="label")
    assert sums_asked(model.as_learner().of_model()) is None
    here = TextClassifier().fit(relation.to_arrow_table().to_pandas(), target="label")
    asked = pd.DataFrame({"subject": TEXTS, "body": TEXTS[::-1]})
    np.testing.assert_array_equal(proba(model, asked), proba(here, asked))
    model.partial_fit(relation, target="label")
    assert model.statistics_.weight == 120


def test_a_run_that_was_ended_goes_on(tmp_path: Path) -> None:
    source = tables(tmp_path)["parquet"]
    asked = pd.DataFrame({"subject": TEXTS, "body": TEXTS[::-1]})
    whole = TextClassifier().fit(source, target="label", sample_weight="weight")
    for _ in range(2):
        model = TextClassifier().fit(
            source, target="label", sample_weight="weight", checkpoint=tmp_path / "state"
        )
        np.testing.assert_array_equal(proba(model, asked), proba(whole, asked))
    statistics = suffice.collect(TextClassifier(), source, "label", weight="weight")
    assert statistics.weight == whole.statistics_.weight


def test_a_source_without_text_is_refused(tmp_path: Path) -> None:
    pq.write_table(pa.table({"a": [1.0, 2.0], "y": ["x", "z"]}), tmp_path / "numbers.parquet")
    with pytest.raises(NotANumber, match="no text in the 1 columns"):
        TextClassifier().fit(tmp_path / "numbers.parquet", target="y")


# scikit-learn's ways


def test_it_is_a_classifier_of_texts() -> None:
    model = TextClassifier()
    assert is_classifier(model)
    tags = get_tags(model).input_tags
    assert tags.string
    assert tags.one_d_array
    assert not tags.two_d_array
    assert repr(TextClassifier("boolean", order=3)) == "TextClassifier(event='boolean', order=3)"


def test_a_clone_has_the_settings_and_nothing_learned() -> None:
    model = TextClassifier("multinomial", ngrams=(1, 3), smoothing=0.2).fit(TEXTS, LABELS)
    copy = clone(model)
    assert copy.get_params() == model.get_params()
    with pytest.raises(NotFittedError):
        copy.predict(TEXTS)


@pytest.mark.parametrize("event", EVENTS)
def test_it_is_cross_validated_and_searched(event: str) -> None:
    assert cross_val_score(TextClassifier(event), TEXTS, LABELS, cv=3).mean() > 0.9
    search = GridSearchCV(
        TextClassifier(event), {"smoothing": [0.1, np.int64(1), "held-out"]}, cv=3,
        scoring="neg_log_loss", error_score="raise",
    ).fit(np.array(TEXTS), LABELS)  # fmt: skip
    assert search.predict(TEXTS[:2]).tolist() == LABELS[:2]
    found = cross_val_predict(TextClassifier(event), TEXTS, LABELS, cv=3, method="predict_proba")
    assert found.shape == (60, 2)


def test_it_works_at_the_end_of_a_pipeline() -> None:
    upper = FunctionTransformer(lambda texts: [text.upper() for text in texts])
    pipeline = make_pipeline(upper, TextClassifier("boolean")).fit(TEXTS, LABELS)
    alone = TextClassifier("boolean").fit(TEXTS, LABELS)
    np.testing.assert_allclose(pipeline.predict_proba(TEXTS), proba(alone), rtol=1e-9)
    assert pipeline.classes_.tolist() == ["ham", "spam"]


def test_a_fitted_model_survives_pickle() -> None:
    for event in EVENTS:
        model = TextClassifier(event).fit(TEXTS, LABELS)
        back = pickle.load(io.BytesIO(pickle.dumps(model)))
        np.testing.assert_array_equal(proba(back), proba(model))
        back.partial_fit(TEXTS, LABELS).forget(TEXTS, LABELS)
        np.testing.assert_array_equal(proba(back), proba(model))


@pytest.mark.parametrize("labels", [[0, 1] * 30, [1.0, 2.0] * 30, [False, True] * 30, LABELS])
def test_labels_come_back_in_the_type_they_had(labels: list[Any]) -> None:
    model = TextClassifier().fit(TEXTS, labels)
    assert model.predict(TEXTS).dtype == np.array(labels).dtype
    assert model.score(TEXTS, labels) > 0.9
    assert model.decision_function(TEXTS).shape == (60,)


def checks() -> Any:
    """Yield scikit-learn's own checks: for texts it has those that need no rows."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SkipTestWarning)
        found = list(estimator_checks_generator(TextClassifier()))
    for estimator, check in found:
        name = getattr(check, "func", check).__name__
        yield pytest.param(estimator, check, id=name)


@pytest.mark.parametrize(("estimator", "check"), list(checks()))
def test_scikit_learns_own_checks_pass(estimator: Any, check: Any) -> None:
    check(estimator)
