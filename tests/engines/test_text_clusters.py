"""Texts on a cluster and in a server: the counts, and the classifier, of the list of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from suffice import TextClassifier, TextVectorizer
from suffice.errors import StreamedRows
from tests.engines.sql_tables import copied
from tests.engines.test_text_sources import table_of_texts

if TYPE_CHECKING:
    import pyarrow as pa


def labelled_texts() -> pa.Table:
    """Return texts of two classes, with a number between them."""
    table = table_of_texts().slice(0, 200)
    kinds = [f"{'pound' if '£5' in text else 'plain'}" for text in table["body"].to_pylist()]
    return table.append_column("kind", [kinds])


def assert_same_texts(source: Any, table: pa.Table) -> None:
    """Compare what is learned where the texts are with what the list of them gives."""
    texts, kinds = table["body"].to_pylist(), table["kind"].to_pylist()
    here = TextVectorizer((1, 2), weighting="tf-idf").fit(texts)
    there = TextVectorizer((1, 2), weighting="tf-idf").fit(source, text="body")
    assert there.statistics_.weight == 200
    order = {term: place for place, term in enumerate(there.vocabulary_.terms)}
    assert set(order) == set(here.vocabulary_.terms)
    places = [order[term] for term in here.vocabulary_.terms]
    np.testing.assert_array_equal(there.idf_[places], here.idf_)
    model = TextClassifier().fit(source, target="kind")
    known = TextClassifier().fit(texts, kinds)
    asked = table.slice(0, 20).select(["body"])
    np.testing.assert_allclose(
        model.predict_proba(asked), known.predict_proba(texts[:20]), rtol=1e-9, atol=1e-12
    )


def test_texts_of_dask_are_counted_where_they_are(any_dask: str) -> None:
    import dask.dataframe as dd

    table = labelled_texts()
    frame = dd.from_pandas(table.to_pandas(), npartitions=3)
    assert any_dask
    assert_same_texts(frame, table)


def test_texts_of_spark_are_counted_where_they_are(any_spark: Any) -> None:
    table = labelled_texts()
    frame = any_spark.createDataFrame(table.to_pylist()).repartition(3, "id")
    assert_same_texts(frame, table)


@pytest.mark.filterwarnings("default::suffice.errors.StreamedRows")
def test_texts_of_postgres_are_streamed_out_and_that_is_said(postgres: Any) -> None:
    table = labelled_texts()
    source = copied(postgres, table, "mails")
    with pytest.warns(StreamedRows):
        assert_same_texts(source, table)
