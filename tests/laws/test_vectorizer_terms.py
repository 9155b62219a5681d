"""Which terms a TextVectorizer counts: fixed vocabularies, stop words, shares, own analyzers."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.feature_extraction.text import CountVectorizer

from suffice import TextVectorizer
from suffice.errors import BadRows, BadSetting
from suffice.text import Tokens

WORDS = ["a", "to", "Be", "or", "not", "the", "Question", "£5", "it's", "é"]
TEXTS = st.lists(
    st.lists(st.sampled_from(WORDS), max_size=12).map(" ".join), min_size=1, max_size=12
)
STOPS = st.lists(st.sampled_from([word.lower() for word in WORDS]), max_size=5)


def table(vectorizer: TextVectorizer, documents: list[str]) -> dict[str, list[float]]:
    """Return the columns by the names of their terms."""
    rows = vectorizer.transform(documents).toarray()
    return dict(zip(vectorizer.get_feature_names_out(), rows.T.tolist(), strict=True))


@given(TEXTS, STOPS, st.sampled_from([(1, 1), (1, 2), (2, 3)]), st.booleans())
def test_stop_words_are_gone_before_ngrams_are_made(
    documents: list[str], stops: list[str], ngrams: tuple[int, int], lower: bool
) -> None:
    words = Tokens((1, 1), lower)
    filtered = [
        " ".join(word for word in words.tokens_of(document) if word not in stops)
        for document in documents
    ]
    ours = TextVectorizer(ngrams, lower=lower, stop_words=stops).fit(documents)
    known = TextVectorizer(ngrams, lower=lower).fit(filtered)
    assert table(ours, documents) == table(known, filtered)


def characters(document: str) -> list[str]:
    return [document[i : i + 3] for i in range(len(document) - 2)]


@given(TEXTS, st.floats(0.1, 1.0), st.integers(1, 3))
def test_an_analyzer_and_shares_give_the_columns_of_scikit_learn(
    documents: list[str], share: float, least: int
) -> None:
    ours = TextVectorizer(analyzer=characters, max_share=share, min_count=least).fit(documents)
    theirs = CountVectorizer(analyzer=characters, max_df=share, min_df=least)
    try:
        rows = theirs.fit_transform(documents).toarray()
    except ValueError:  # it refuses to have no columns
        assert len(ours.get_feature_names_out()) == 0
        return
    expected = dict(zip(theirs.get_feature_names_out(), rows.T.tolist(), strict=True))
    assert table(ours, documents) == expected


@given(TEXTS, TEXTS, st.booleans())
def test_an_analyzer_merges_and_forgets(first: list[str], more: list[str], hashed: bool) -> None:
    settings = {"analyzer": characters, "hashing": 64 if hashed else None, "weighting": "tf-idf"}
    whole = TextVectorizer(**settings).fit(first + more)
    merged = TextVectorizer(**settings).fit(first) + TextVectorizer(**settings).fit(more)
    back = TextVectorizer(**settings).fit(first + more).forget(more)
    alone = TextVectorizer(**settings).fit(first)
    np.testing.assert_array_equal(merged.idf_, whole.idf_)
    np.testing.assert_array_equal(
        merged.transform(first).toarray(), whole.transform(first).toarray()
    )
    np.testing.assert_array_equal(
        np.sort(back.transform(first).toarray()), np.sort(alone.transform(first).toarray())
    )


@given(TEXTS, TEXTS)
def test_a_fixed_vocabulary_has_its_columns_whatever_comes(
    first: list[str], more: list[str]
) -> None:
    terms = ["question", "never met", "to"]
    ours = TextVectorizer(vocabulary=terms, weighting="tf-idf").fit(first).partial_fit(more)
    assert ours.get_feature_names_out().tolist() == terms
    whole = TextVectorizer(weighting="tf-idf").fit(first + more)
    for term in {"question", "to"} & set(whole.get_feature_names_out()):
        assert ours.idf_[terms.index(term)] == whole.idf_[whole.vocabulary_.number(term)]
    assert ours.transform(more).shape == (len(more), 3)
    back = ours.forget(more)
    np.testing.assert_array_equal(
        back.idf_, TextVectorizer(vocabulary=terms, weighting="tf-idf").fit(first).idf_
    )


@pytest.mark.parametrize(
    "vocabulary", [["b", "a"], {"b": 0, "a": 1}, ("b", "a"), np.array(["b", "a"]).tolist()]
)
def test_a_fixed_vocabulary_may_come_as_a_list_or_numbered(vocabulary: object) -> None:
    made = TextVectorizer(vocabulary=vocabulary).fit(["a b c"])
    assert made.get_feature_names_out().tolist() == ["b", "a"]
    assert made.transform(["a a"]).toarray().tolist() == [[0, 2]]


def test_a_set_of_terms_is_sorted() -> None:
    made = TextVectorizer(vocabulary={"z", "a", "m"}).fit(["a"])
    assert made.get_feature_names_out().tolist() == ["a", "m", "z"]


def test_a_vectorizer_with_an_analyzer_can_be_pickled() -> None:
    made = TextVectorizer(analyzer=characters).fit(["a b c", " b "])
    again = pickle.loads(pickle.dumps(made))
    assert table(again, ["b c"]) == table(made, ["b c"])


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"vocabulary": "spam"}, "not a list of terms"),
        ({"vocabulary": []}, "vocabulary is empty"),
        ({"vocabulary": ["a", "b", "a"]}, "has 'a' twice"),
        ({"vocabulary": {"a": 0, "b": 2}}, "no term for column 1"),
        ({"vocabulary": ["a"], "min_count": 2}, "min_count chooses terms"),
        ({"vocabulary": ["a"], "hashing": 8}, "exclude each other"),
        ({"hashing": 8, "max_share": 0.5}, "max_share chooses terms"),
        ({"max_share": 0.0}, "max_share is 0.0"),
        ({"max_share": 3}, "max_share is 3"),
        ({"stop_words": "english"}, "not a list of words"),
        ({"stop_words": [1]}, "not a list of words"),
        ({"analyzer": "word"}, "not a function"),
        ({"analyzer": characters, "ngrams": (1, 2)}, "so does analyzer"),
        ({"analyzer": characters, "stop_words": ["a"]}, "so does analyzer"),
    ],
)
def test_settings_that_say_which_terms_are_refused_in_words(
    settings: dict[str, object], words: str
) -> None:
    with pytest.raises(BadSetting, match=words):
        TextVectorizer(**settings).fit(["a b"])


def test_what_an_analyzer_makes_is_looked_at() -> None:
    with pytest.raises(BadRows, match="the analyzer returned 'b' for document 1"):
        TextVectorizer(analyzer=lambda text: ["a"] if text == "x" else "b").fit(["x", "y"])
    with pytest.raises(BadSetting, match="7 is not a term"):
        TextVectorizer(analyzer=lambda text: [7]).fit(["x"])


def test_settings_of_terms_changed_after_a_fit_are_refused() -> None:
    made = TextVectorizer(stop_words=["a"]).fit(["a b"])
    made.set_params(stop_words=None)
    with pytest.raises(BadSetting, match="changed after terms had been learned"):
        made.transform(["a b"])
