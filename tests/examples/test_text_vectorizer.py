"""TextVectorizer: scikit-learn's numbers, and what scikit-learn has not: growing and forgetting."""

from __future__ import annotations

import pickle
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import (
    CountVectorizer,
    HashingVectorizer,
    TfidfTransformer,
    TfidfVectorizer,
)
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import make_pipeline

from suffice import TextVectorizer
from suffice.errors import BadRows, BadSetting, DifferentKinds, ForgettingUnseen
from suffice.kernels.compilation import WORTH_COMPILING, part_of
from suffice.kernels.tokens.characters import PATTERN
from suffice.testing import assert_same
from suffice.text import TfIdf, Tokens

TEXTS = [
    "To be, or not to be: that is the question!",
    "",
    "Whether 'tis nobler in the mind to suffer £££ and $$$ outrageous fortune?!",
    b"the slings \xe9 and arrows",
    "or to take arms against a sea of troubles, the sea!",
    "...",
]
OTHERS = ["The question is: what sea? Question!", "new words", "to to to"]

words = st.sampled_from(["to", "be", "or", "not", "To", "!!", "é", ",", "sea"])
texts = st.lists(st.lists(words, max_size=8).map(" ".join), max_size=6)
filled = texts.map(lambda some: [*some, "to be"])
variants = st.fixed_dictionaries(
    {
        "smooth_idf": st.booleans(),
        "sublinear_tf": st.booleans(),
        "norm": st.sampled_from(["l1", "l2", None]),
        "weighting": st.sampled_from(["tf", "tf-idf"]),
        "boolean": st.booleans(),
        "ngrams": st.sampled_from([(1, 1), (1, 2), (2, 2)]),
        "dtype": st.sampled_from([None, np.float32]),
    }
)


def peer(given):
    """Return scikit-learn's vectorizer of the same settings."""
    return TfidfVectorizer(
        token_pattern=PATTERN.pattern,
        ngram_range=given["ngrams"],
        use_idf=given["weighting"] == "tf-idf",
        binary=given["boolean"],
        dtype=given["dtype"] or np.float64,
        **{name: given[name] for name in ("smooth_idf", "sublinear_tf", "norm")},
    )


def by_name(vectorizer, matrix):
    """Return a dense matrix with its columns in the order of their names."""
    return matrix.toarray()[:, np.argsort(vectorizer.get_feature_names_out())]


def sorted_names(vectorizer):
    return sorted(vectorizer.get_feature_names_out().tolist())


@given(filled, texts, variants)
def test_weights_are_those_of_scikit_learn(first, second, given):
    ours, theirs = TextVectorizer(**given), peer(given)
    fitted, expected = ours.fit_transform(first), theirs.fit_transform(first)
    assert sorted_names(ours) == theirs.get_feature_names_out().tolist()
    assert fitted.dtype == expected.dtype
    close = 1e-12 if given["dtype"] is None else 1e-6
    np.testing.assert_allclose(by_name(ours, fitted), expected.toarray(), rtol=close, atol=1e-15)
    if second:
        found, expected = ours.transform(second), theirs.transform(second)
        np.testing.assert_allclose(by_name(ours, found), expected.toarray(), rtol=close, atol=1e-15)
    if given["weighting"] == "tf-idf":
        order = np.argsort(ours.get_feature_names_out())
        np.testing.assert_allclose(ours.idf_[order], theirs.idf_, rtol=close)


@given(filled, st.sampled_from([(1, 1), (1, 3), (2, 2)]), st.booleans(), st.booleans())
def test_counts_are_those_of_scikit_learn(some, ngrams, boolean, lower):
    ours = TextVectorizer(ngrams, boolean=boolean, lower=lower)
    theirs = CountVectorizer(
        token_pattern=PATTERN.pattern, ngram_range=ngrams, binary=boolean, lowercase=lower
    )
    found, expected = ours.fit_transform(some), theirs.fit_transform(some)
    assert found.dtype == expected.dtype == np.int64
    assert (by_name(ours, found) == expected.toarray()).all()
    assert (ours.transform(some) != found).nnz == 0
    assert found.has_canonical_format


@given(filled, texts, st.sampled_from(["tf-idf", "notes"]), st.sampled_from([None, 50]))
def test_learning_in_parts_and_merging_are_learning_at_once(x, y, weighting, hashing):
    whole = TextVectorizer(weighting=weighting, hashing=hashing).fit([*x, *y])
    parts = clone(whole).partial_fit(x).partial_fit(y)
    merged = clone(whole).fit(x) + clone(whole).fit(y)
    for other in (parts, merged, pickle.loads(pickle.dumps(whole))):
        assert_same(other.statistics_, whole.statistics_, relative=0.0)
        assert (other.idf_ == whole.idf_).all()
        assert (other.transform([*y, *x]) != whole.transform([*y, *x])).nnz == 0
        if hashing is None:
            assert (other.get_feature_names_out() == whole.get_feature_names_out()).all()


@given(filled, filled, filled, st.sampled_from([None, 50]))
def test_what_was_forgotten_was_never_there(x, y, z, hashing):
    plain = TextVectorizer(weighting="tf-idf", hashing=hashing)
    forgotten = clone(plain).fit(x).partial_fit(y).forget(y).partial_fit(z)
    never = clone(plain).fit(x).partial_fit(z)
    assert_same(forgotten.statistics_, never.statistics_, relative=0.0)
    assert (forgotten.transform(z) != never.transform(z)).nnz == 0


def test_the_notes_have_shares_times_logarithms():
    vectorizer = TextVectorizer(weighting="notes")
    found = vectorizer.fit_transform(["a b b", "a", "", "c"]).toarray()
    expected = [[np.log(2) / 3, 2 * np.log(4) / 3, 0], [np.log(2), 0, 0], [0, 0, 0],
                [0, 0, np.log(4)]]  # fmt: skip
    np.testing.assert_allclose(found, expected, rtol=1e-15)


def test_hashed_weights_are_those_of_the_transformer_over_hashed_counts():
    counted = TextVectorizer(hashing=64).fit_transform(TEXTS)
    assert counted.shape == (6, 64)
    for smooth in (True, False):
        ours = TextVectorizer(hashing=64, weighting="tf-idf", smooth_idf=smooth)
        seen = np.asarray(counted.sum(axis=0)).ravel() > 0
        theirs = TfidfTransformer(smooth_idf=smooth).fit_transform(counted[:, seen])
        found = ours.fit_transform(TEXTS)
        np.testing.assert_allclose(found[:, seen].toarray(), theirs.toarray(), rtol=1e-12)
        assert found[:, ~seen].nnz == 0
        assert np.isfinite(ours.transform(OTHERS).data).all()
    peers = HashingVectorizer(n_features=2**18, norm=None, alternate_sign=False,
                              token_pattern=PATTERN.pattern, decode_error="replace")  # fmt: skip
    ours = TextVectorizer(hashing=2**18).fit_transform(OTHERS)
    assert sorted(ours.data.tolist()) == sorted(peers.transform(OTHERS).data.tolist())


def test_terms_of_few_documents_are_no_columns_until_there_are_more():
    vectorizer = TextVectorizer(min_count=2).fit(["a b", "b c"])
    assert vectorizer.get_feature_names_out().tolist() == ["b"]
    assert vectorizer.partial_fit(["a a"]).get_feature_names_out().tolist() == ["a", "b"]
    assert vectorizer.transform(["a b b c"]).toarray().tolist() == [[1, 2]]
    assert clone(vectorizer).fit_transform(["a b", "b c", "c"]).toarray().tolist() == [
        [1, 0], [1, 1], [0, 1]]  # fmt: skip
    most = TextVectorizer(max_terms=2).fit(["a b c", "c b", "c"])
    assert most.get_feature_names_out().tolist() == ["b", "c"]
    expected = CountVectorizer(token_pattern=PATTERN.pattern, min_df=2).fit(["a b", "b c", "a a"])
    assert sorted(expected.vocabulary_) == ["a", "b"]


def test_which_terms_are_kept_does_not_depend_on_the_order_of_documents():
    """Of terms that equally many documents hold those are kept that come first, as terms."""
    rng = np.random.default_rng(0)
    texts = [" ".join(rng.choice(list("abcdefghij"), 4)) for _ in range(12)]
    for most in range(1, 11):
        kept = set(TextVectorizer(max_terms=most).fit(texts).get_feature_names_out())
        for _ in range(4):
            mixed = rng.permutation(texts).tolist()
            whole = TextVectorizer(max_terms=most).fit(mixed)
            one, two = (TextVectorizer(max_terms=most).fit(p) for p in (mixed[5:], mixed[:5]))
            for found in (whole, one + two, two + one):
                assert set(found.get_feature_names_out()) == kept
    tied = TextVectorizer(max_terms=2).fit(["z y x", "w z"])
    assert sorted(tied.get_feature_names_out()) == ["w", "z"]


@pytest.mark.slow
def test_large_and_small_inputs_give_the_same_matrix():
    for some in ({}, {"ngrams": (1, 2), "weighting": "tf-idf", "min_count": 2}, {"hashing": 99}):
        small = TextVectorizer(**some).fit_transform(TEXTS + OTHERS)
        with part_of(WORTH_COMPILING):
            large = TextVectorizer(**some)
            found = large.fit_transform(TEXTS + OTHERS)
            assert (found != small).nnz == 0
            assert (large.transform(OTHERS) != small[-3:]).nnz == 0
        assert (large.transform(OTHERS) != small[-3:]).nnz == 0


def test_it_works_in_pipelines_and_searches():
    y = [0, 1, 0, 1, 0, 1] * 3
    search = GridSearchCV(
        make_pipeline(TextVectorizer(), MultinomialNB()),
        {"textvectorizer__ngrams": [(1, 1), (1, 2)], "textvectorizer__weighting": [None, "tf"]},
        cv=2,
    ).fit(TEXTS * 3, y)
    assert search.predict(TEXTS).shape == (6,)
    assert "ngrams=(1, 2)" in repr(TextVectorizer((1, 2)))


def test_rows_turn_back_into_their_terms():
    vectorizer = TextVectorizer().fit(TEXTS)
    rows = vectorizer.inverse_transform(vectorizer.transform(["sea to sea", "unknown"]))
    assert [row.tolist() for row in rows] == [["to", "sea"], []]


def test_strings_may_come_in_arrays_and_columns(require):
    plain = TextVectorizer().fit_transform(OTHERS)
    assert (TextVectorizer().fit_transform(np.array(OTHERS)) != plain).nnz == 0
    assert (TextVectorizer().fit_transform(iter(OTHERS)) != plain).nnz == 0
    pandas = pytest.importorskip("pandas")
    assert (TextVectorizer().fit_transform(pandas.Series(OTHERS)) != plain).nnz == 0
    with pytest.raises(BadRows, match="one column"):
        TextVectorizer().fit(pandas.DataFrame({"text": OTHERS}))


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"ngrams": (2, 1)}, "ngrams is"),
        ({"ngrams": (0, 1)}, "ngrams is"),
        ({"ngrams": 2}, "ngrams is"),
        ({"weighting": "bm25"}, "weighting is 'bm25'"),
        ({"weighting": "tf-idf", "norm": "l3"}, "norm is 'l3'"),
        ({"norm": None}, "has no smooth_idf"),
        ({"weighting": "notes", "sublinear_tf": True}, "has no smooth_idf"),
        ({"hashing": 0}, "hashing is 0"),
        ({"hashing": 2.5}, "hashing is 2.5"),
        ({"hashing": 2**40}, "is kept for every column"),
        ({"min_count": 0}, "min_count is 0"),
        ({"max_terms": True}, "max_terms is True"),
        ({"hashing": 9, "min_count": 2}, "hashing stores no terms"),
        ({"dtype": str}, "dtype is"),
        ({"dtype": np.int64, "weighting": "tf"}, "not whole numbers"),
    ],
)
def test_settings_outside_their_range_are_refused(given, words):
    with pytest.raises(BadSetting, match=words):
        TextVectorizer(**given).fit(TEXTS)


def test_what_is_no_list_of_texts_is_refused():
    for bad, words in (("one", "one string"), (5, "not 5"), (["a", None], "document 1 is None"),
                       ([["a"]], "document 0 is")):  # fmt: skip
        with pytest.raises(BadRows, match=words):
            TextVectorizer().fit(bad)
    with pytest.raises(NotFittedError):
        TextVectorizer().transform(TEXTS)
    with pytest.raises(ForgettingUnseen, match="term 'new'"):
        TextVectorizer().fit(TEXTS).forget(["new"])
    with pytest.raises(DifferentKinds, match="different settings"):
        TextVectorizer().fit(TEXTS) + TextVectorizer((1, 2)).fit(TEXTS)
    with pytest.raises(BadSetting, match="no names"):
        TextVectorizer(hashing=9).fit(TEXTS).get_feature_names_out()


def test_what_a_column_is_cannot_change_once_it_is_learned():
    vectorizer = TextVectorizer().fit(TEXTS)
    for some in ({"ngrams": (1, 2)}, {"lower": False}, {"hashing": 9}):
        changed = clone(vectorizer).fit(TEXTS).set_params(**some)
        for verb in ("partial_fit", "transform", "forget"):
            with pytest.raises(BadSetting, match="were changed after"):
                getattr(changed, verb)(TEXTS)
        assert changed.fit(TEXTS).transform(TEXTS).shape[0] == len(TEXTS)
    weighted = vectorizer.set_params(weighting="tf-idf", min_count=2).transform(TEXTS)
    assert (weighted != clone(vectorizer).fit_transform(TEXTS)).nnz == 0


def test_a_refused_fit_changes_nothing():
    vectorizer = TextVectorizer().fit(TEXTS)
    before = vectorizer.transform(OTHERS)
    for verb in ("fit", "partial_fit", "fit_transform"):
        with pytest.raises(BadRows):
            getattr(vectorizer, verb)(["fine", None])
    assert (vectorizer.transform(OTHERS) != before).nnz == 0


def test_a_refused_forgetting_changes_nothing():
    vectorizer = TextVectorizer().fit(TEXTS)
    before = vectorizer.transform(OTHERS)
    with pytest.raises(ForgettingUnseen):
        vectorizer.forget(["to be", "never seen"])
    assert (vectorizer.transform(OTHERS) != before).nnz == 0


def test_no_documents_are_no_rows_and_no_columns():
    vectorizer = TextVectorizer(weighting="notes").fit([])
    assert vectorizer.transform([]).shape == (0, 0)
    assert vectorizer.transform(["a"]).shape == (1, 0)
    assert vectorizer.partial_fit(["a"]).transform(["a"]).shape == (1, 1)


def test_a_term_of_no_document_weighs_nothing():
    for weighting in (TfIdf.notes(), TfIdf(smooth_idf=False)):
        assert weighting.idf(3.0, np.array([0.0, 1.0]))[0] == 0.0


@pytest.mark.process
def test_one_message_is_counted_without_numba():
    code = (
        "import sys; from suffice.text import Tokens, count_terms, term_hashes;"
        "found = term_hashes(['Buy NOW!!'], Tokens((1, 2)));"
        "count_terms([b'Buy NOW!!']); assert len(found.hashes) == 5;"
        "print([name for name in ('numba', 'sklearn', 'scipy') if name in sys.modules])"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[]"


def test_tokens_are_words_and_runs_of_marks():
    found = Tokens().tokens_of("Don't buy well-known V1AGRA... 100% FREE!!! £5 only_today ½ price")
    assert found == ["don't", "buy", "well-known", "v1agra", "100", "%", "free", "!!!", "£", "5",
                     "only_today", "½", "price"]  # fmt: skip
    assert Tokens(lower=False).tokens_of("ΟΔΟΣ") == ["ΟΔΟΣ"]
    assert Tokens().tokens_of("ΟΔΟΣ") == ["οδος"]  # a final sigma
