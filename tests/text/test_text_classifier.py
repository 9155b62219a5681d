"""The classifier of texts: what holds for every event model, and what it says of odd documents."""

from __future__ import annotations

import copy
import tempfile
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import suffice
from suffice import TextClassifier
from suffice.errors import (
    BadLabels,
    BadSetting,
    DifferentKinds,
    ForgettingUnseen,
    NotADensity,
    OneClass,
    SmallSample,
)
from suffice.estimators.fitting_notes import NotFitted
from suffice.models.text.learner import GRID

EVENTS = ("both", "language", "boolean", "multinomial", "bernoulli", "complement")
SETTINGS: dict[str, dict[str, Any]] = {
    **{event: {"event": event} for event in EVENTS},
    **{f"{event}, plain": {"event": event, "calibrated": False} for event in EVENTS[1:]},
    "given smoothing": {"event": "boolean", "smoothing": 0.2, "calibrated": False},
    "short": {"event": "both", "order": 2, "limit": 7, "ngrams": (2, 3), "lower": False},
    "priors": {"event": "both", "priors": {"ham": 0.3, "spam": 0.7}},
}
ODD = ["", " ", "\x00", "\x00\x00 a", "\ud800", "a \ud83d\ude00 b", "日本語", "ẞß", "$$$ !!!",
       "x" * 50, b"", b"\xff\xfe", b"caf\xe9", "never seen"]  # fmt: skip
words = st.sampled_from(["cheap", "pills", "lunch", "at", "one", "!!", "é", "\ud800", "\x00"])
texts = st.lists(words, max_size=5).map(" ".join)
documents = texts | texts.map(lambda text: text.encode("utf-8", "surrogatepass"))
labelled = st.lists(st.tuples(documents, st.sampled_from(["ham", "spam"])), max_size=6)
settings_names = st.sampled_from(sorted(SETTINGS))
every_setting = pytest.mark.parametrize("name", SETTINGS)
FIRST = [("cheap pills", "spam"), ("lunch at one", "ham")]
TEXTS = ["buy cheap pills now", "cheap watches!!!", "lunch at one?", "see you at lunch"]
LABELS = ["spam", "spam", "ham", "ham"]


def model_of(name: str) -> TextClassifier:
    return TextClassifier(**SETTINGS[name])


def split(pairs: list[tuple[Any, str]]) -> tuple[list[Any], list[str]]:
    return [text for text, _ in pairs], [label for _, label in pairs]


def assert_same(left: TextClassifier, right: TextClassifier, asked: list[Any]) -> None:
    assert left.classes_.tolist() == right.classes_.tolist()
    assert left.smoothing_ == right.smoothing_
    np.testing.assert_allclose(
        left.predict_log_proba(asked), right.predict_log_proba(asked), rtol=1e-9, atol=1e-9
    )


# Laws


@given(labelled, labelled, settings_names)
@pytest.mark.slow
def test_merged_models_are_those_fitted_together(x: Any, y: Any, name: str) -> None:
    x, y = [*FIRST, *x], [*FIRST, *y]
    both = model_of(name).fit(*split([*x, *y]))
    asked = [*split([*x, *y])[0], *ODD]
    left, right = model_of(name).fit(*split(x)), model_of(name).fit(*split(y))
    assert_same(left + right, both, asked)
    assert_same(right + left, both, asked)
    assert_same(sum([left, right]), both, asked)
    assert_same(left.partial_fit(*split(y)), both, asked)
    assert_same(left.forget(*split(y)), model_of(name).fit(*split(x)), asked)


@given(labelled, st.randoms(), settings_names)
def test_batches_may_be_cut_anywhere(pairs: Any, random: Any, name: str) -> None:
    pairs = [*FIRST, *pairs]
    whole = model_of(name).fit(*split(pairs))
    random.shuffle(pairs)
    parts = model_of(name)
    while pairs:
        size = random.randint(1, len(pairs))
        parts.partial_fit(*split(pairs[:size]))
        pairs = pairs[size:]
    assert_same(parts, whole, ODD)


@given(labelled, st.data(), settings_names)
def test_a_weight_is_a_repetition_and_none_is_no_document(
    pairs: Any, data: st.DataObject, name: str
) -> None:
    times = data.draw(st.lists(st.integers(0, 3), min_size=len(pairs), max_size=len(pairs)))
    repeated = [*FIRST, *(pair for pair, n in zip(pairs, times, strict=True) for _ in range(n))]
    weighted = model_of(name).fit(*split([*FIRST, *pairs]), sample_weight=[1, 1, *times])
    assert_same(weighted, model_of(name).fit(*split(repeated)), ODD)


@given(st.lists(st.tuples(documents, st.sampled_from(["ham", "spam"])), min_size=1, max_size=5),
       settings_names)  # fmt: skip
def test_every_answer_is_a_probability(pairs: Any, name: str) -> None:
    model = model_of(name)
    asked = [*split(pairs)[0], *ODD]
    labels = {label for _, label in pairs}
    if len(labels) == 1 and model.priors is not None:
        model.set_params(priors=None)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", OneClass)
        model.fit(*split(pairs))
    found = model.predict_proba(asked)
    assert np.isfinite(model.predict_log_proba(asked)).all()
    np.testing.assert_allclose(found.sum(axis=1), 1.0)
    assert found.shape == (len(asked), len(labels))
    assert set(model.predict(asked)) <= labels


def test_weights_of_any_size_merge_and_are_forgotten() -> None:
    weights = np.array([0.1, 0.7, 1.3, 2.5])
    model = TextClassifier().fit(TEXTS, LABELS, sample_weight=weights)
    more = copy.deepcopy(model).partial_fit(TEXTS[:3], LABELS[:3], sample_weight=weights[1:])
    assert_same(more.forget(TEXTS[:3], LABELS[:3], sample_weight=weights[1:]), model, ODD)


@given(st.lists(st.floats(1e-3, 1e3), min_size=20, max_size=60))
def test_two_event_models_of_fractional_weights_come_back_from_a_file(weights: list[float]) -> None:
    """Both count the same documents: sums in another order differ in their last digit."""
    rows = [TEXTS[i % 4] for i in range(len(weights))]
    labels = [LABELS[i % 4] for i in range(len(weights))]
    model = TextClassifier().fit(rows, labels, sample_weight=weights)
    model.partial_fit(rows[:9], labels[:9], sample_weight=weights[:9])
    for left in (model, copy.deepcopy(model).forget(rows[:9], labels[:9], weights[:9])):
        with tempfile.TemporaryDirectory() as folder:
            left.save(Path(folder) / "model")
            assert_same(suffice.load(Path(folder) / "model"), left, ODD)


# Learning


@every_setting
def test_a_new_class_may_come_at_any_time_and_go(name: str) -> None:
    model = model_of(name).set_params(priors=None).fit(TEXTS, LABELS)
    before = model.predict_log_proba(ODD)
    model.partial_fit(["minutes of the meeting"], ["work"])
    assert model.classes_.tolist() == ["ham", "spam", "work"]
    assert model.predict(["minutes of the meeting"]) == ["work"]
    model.forget(["minutes of the meeting"], ["work"])
    np.testing.assert_allclose(model.predict_log_proba(ODD), before, rtol=1e-9, atol=1e-12)
    with pytest.raises(NotFitted):
        model.forget(TEXTS, LABELS).predict(ODD)


@every_setting
def test_what_was_never_learned_cannot_be_forgotten(name: str) -> None:
    model = model_of(name).fit(TEXTS, LABELS)
    before = model.predict_proba(ODD)
    for some, labels in ((["buy cheap pills now"], ["ham"]), (["something else"], ["spam"]),
                         ([TEXTS[0]] * 2, ["spam"] * 2), ([TEXTS[0]], ["work"])):  # fmt: skip
        with pytest.raises(ForgettingUnseen):
            model.forget(some, labels)
    assert np.array_equal(model.predict_proba(ODD), before)


def test_settings_that_decide_how_documents_are_read_stay() -> None:
    others = {"event": "boolean", "ngrams": (1, 1), "lower": False, "order": 3, "limit": 100}
    for name, value in others.items():
        model = TextClassifier().fit(TEXTS, LABELS)
        model.set_params(**{name: value})
        questions = [("predict", [TEXTS]), ("explain", [TEXTS]), ("partial_fit", [TEXTS, LABELS]),
                     ("forget", [TEXTS[:1], LABELS[:1]])]  # fmt: skip
        for question, asked in questions:
            with pytest.raises(BadSetting, match=rf"{name} was different.*\nHint: set it back"):
                getattr(model, question)(*asked)
    plain = TextClassifier("boolean", smoothing=1.0, calibrated=False).fit(TEXTS, LABELS)
    kept = TextClassifier("boolean", smoothing=1.0).fit(TEXTS, LABELS).set_params(calibrated=False)
    assert_same(kept, plain, ODD)
    with pytest.raises(BadSetting, match="smoothing or calibrated was different"):
        kept.partial_fit(TEXTS, LABELS)
    with pytest.raises(BadSetting, match="smoothing or calibrated was different"):
        plain.set_params(calibrated=True).predict(TEXTS)


def test_settings_of_the_estimate_may_change_after_the_fit() -> None:
    model = TextClassifier("boolean").fit(TEXTS, LABELS)
    model.set_params(smoothing=0.7)
    assert_same(model, TextClassifier("boolean", smoothing=0.7).fit(TEXTS, LABELS), ODD)
    model.set_params(event="bernoulli", priors={"ham": 0.9, "spam": 0.1})
    again = TextClassifier("bernoulli", smoothing=0.7, priors={"ham": 0.9, "spam": 0.1})
    assert_same(model, again.fit(TEXTS, LABELS), ODD)
    np.testing.assert_allclose(model.with_priors({"ham": 0.5, "spam": 0.5}).priors_, 0.5)


@every_setting
def test_other_priors_leave_what_was_learned_untouched(name: str, tmp_path: Path) -> None:
    model = model_of(name).fit(TEXTS, LABELS)
    priors = {"ham": 0.25, "spam": 0.75}
    again = TextClassifier(**{**SETTINGS[name], "priors": priors}).fit(TEXTS, LABELS)
    changed = model.with_priors(priors)
    assert np.array_equal(changed.predict_log_proba(ODD), again.predict_log_proba(ODD))
    assert changed.priors_.tolist() == [0.25, 0.75]
    assert model.priors != priors
    model.save(tmp_path / "model", statistics=False)
    alone = suffice.load(tmp_path / "model").with_priors(priors)
    assert np.array_equal(alone.predict_log_proba(ODD), again.predict_log_proba(ODD))
    alone.save(tmp_path / "again")
    back = suffice.load(tmp_path / "again")
    assert np.array_equal(back.predict_log_proba(ODD), again.predict_log_proba(ODD))
    model.set_params(priors={"ham": 2.0, "spam": -1.0})
    with pytest.raises(BadSetting, match="prior"):
        model.predict(ODD)


def test_models_of_other_settings_are_not_merged() -> None:
    one = TextClassifier().fit(TEXTS, LABELS)
    with pytest.raises(DifferentKinds, match="order=5 and 3"):
        one + TextClassifier(order=3).fit(TEXTS, LABELS)


@pytest.mark.parametrize(
    ("setting", "told"),
    [({"event": "poisson"}, "event='poisson' is not known"),
     ({"ngrams": (2, 1)}, "ngrams is"), ({"ngrams": 3}, "ngrams is"),
     ({"order": 8}, "8 symbols"), ({"order": 0}, "0 symbols"), ({"limit": 0}, "first 0 bytes"),
     ({"smoothing": 0}, "smoothing=0 is not valid"), ({"smoothing": "auto"}, "smoothing='auto'"),
     ({"smoothing": np.inf}, "smoothing=inf"), ({"smoothing": np.nan}, "smoothing=nan"),
     ({"smoothing": True}, "smoothing=True"), ({"smoothing": None}, "smoothing=None"),
     ({"calibrated": "yes"}, "calibrated='yes'"), ({"calibrated": False}, "to be calibrated"),
     ({"lower": "yes"}, "lower='yes'"),
     ({"priors": {"ham": 1.0}}, "prior")],
)  # fmt: skip
def test_settings_without_a_meaning_are_refused(setting: dict[str, Any], told: str) -> None:
    model = TextClassifier(**setting)
    with pytest.raises(BadSetting, match=told):
        model.fit(TEXTS, LABELS)
    with pytest.raises(NotFitted):
        model.predict(TEXTS)


def test_labels_of_another_type_are_refused() -> None:
    with pytest.raises(BadLabels, match="labels were text before and are integers now"):
        TextClassifier().fit(TEXTS, LABELS).partial_fit(TEXTS[:1], [1])


# Answers


@every_setting
def test_a_document_of_which_nothing_is_known_has_the_prior(name: str) -> None:
    model = model_of(name).fit([*TEXTS, "one more lunch"], [*LABELS, "ham"])
    if model.event in ("boolean", "multinomial", "complement"):
        found = model.predict_proba(["", "unheard of", b"\xff", "\x00"])
        np.testing.assert_allclose(found, np.tile(model.priors_, (4, 1)), rtol=1e-12)
    else:  # what is not there, and where a text ends, speak as well
        assert np.isfinite(model.predict_log_proba([""])).all()


@every_setting
def test_explanations_add_up_to_the_log_odds(name: str) -> None:
    model = model_of(name).fit(TEXTS, LABELS)
    asked = [*TEXTS, *ODD, "cheap lunch, cheap!"]
    found = model.explain(asked)
    log_posterior = model.predict_log_proba(asked)
    assert found.of.tolist() == model.predict(asked).tolist()
    places = {label: j for j, label in enumerate(model.classes_)}
    of, against = ([places[label] for label in some] for some in (found.of, found.against))
    rows = np.arange(len(asked))
    odds = log_posterior[rows, of] - log_posterior[rows, against]
    np.testing.assert_allclose(found.log_odds, odds, rtol=1e-9, atol=1e-9)
    added = found.baseline + found.contributions.sum(axis=1)
    np.testing.assert_allclose(added, odds, rtol=1e-9, atol=1e-9)
    assert found.contributions.shape == (len(asked), len(found.columns))


def test_the_words_for_and_against_are_named() -> None:
    model = TextClassifier("boolean", ngrams=(1, 1)).fit(TEXTS, LABELS)
    found = model.explain(["Cheap lunch pills"], of="spam", against="ham")
    top, low = found.reasons()
    assert {word for word, _ in top} == {"cheap", "pills"}
    assert [word for word, _ in low] == ["lunch"]
    assert "document 0: log odds of spam against ham" in str(found)
    with pytest.raises(BadSetting, match="no document 1 among 1"):
        found.reasons(1)
    with pytest.raises((BadSetting, BadLabels), match="work"):
        model.explain(["cheap"], of="work")


def test_texts_are_written_by_the_language_of_a_class() -> None:
    model = TextClassifier("language", order=7).fit(["spam spam"] * 99 + ["ham"] * 99,
                                                    ["spam"] * 99 + ["ham"] * 99)  # fmt: skip
    written, labels = model.sample(20, random_state=0)
    assert set(zip(written, labels, strict=True)) == {("spam spam", "spam"), ("ham", "ham")}
    assert model.sample(2, "ham", random_state=1)[0] == ["ham", "ham"]
    assert model.sample(1, "spam", random_state=1, most=4)[0] == ["spam"]
    assert model.sample(5, random_state=3)[0] == model.sample(5, random_state=3)[0]
    with pytest.raises(NotADensity, match="it cannot write"):
        TextClassifier("boolean").fit(TEXTS, LABELS).sample(1)


def test_densities_are_there_where_there_is_one_law() -> None:
    language = TextClassifier("language").fit(TEXTS, LABELS)
    joint = language.log_joint(TEXTS)
    np.testing.assert_allclose(np.logaddexp.reduce(joint, axis=1), language.log_density(TEXTS))
    plain = TextClassifier("language", calibrated=False).fit(TEXTS, LABELS)
    np.testing.assert_array_equal(plain.log_joint(TEXTS), joint)
    for event, told in (("both", "document twice"), ("complement", "no density")):
        with pytest.raises(NotADensity, match=told):
            TextClassifier(event).fit(TEXTS, LABELS).log_density(TEXTS)


# Smoothing and calibration


def corpus(size: int, seed: int = 0, classes: int = 2) -> tuple[list[str], list[str]]:
    rng = np.random.default_rng(seed)
    codes = np.concatenate([np.arange(classes), rng.integers(classes, size=size - classes)])
    base = np.random.default_rng(99).dirichlet(np.full(40, 3.0), classes)
    # Words come twice: they are not independent, and scores at their word say too much.
    texts = [" ".join(np.repeat(rng.choice(40, 6, p=base[c]), 2).astype(str)) for c in codes]
    return texts, [f"class {c}" for c in codes]


def log_loss(model: TextClassifier, asked: list[str], labels: list[str]) -> float:
    places = {label: j for j, label in enumerate(model.classes_)}
    found = model.predict_log_proba(asked)
    return -float(np.mean([found[i, places[label]] for i, label in enumerate(labels)]))


@pytest.mark.parametrize("event", EVENTS[1:])
@pytest.mark.parametrize("classes", [2, 4])
def test_calibrated_probabilities_are_better_than_those_at_their_word(
    event: str, classes: int
) -> None:
    new = corpus(1000, 1, classes)
    model = TextClassifier(event).fit(*corpus(400, 0, classes))
    plain = TextClassifier(event, calibrated=False).fit(*corpus(400, 0, classes))
    said_twice = event in ("multinomial", "language")
    assert log_loss(model, *new) < log_loss(plain, *new) * (1.0 if said_twice else 1.02)
    confidence = model.predict_proba(new[0]).max(axis=1).mean()
    # Three standard errors of two shares, of the 400 documents learned and the 1,000 asked about.
    assert abs(confidence - model.score(*new)) < 3.0 * 0.5 * np.sqrt(1 / 400 + 1 / 1000)


def test_few_documents_do_not_make_certainty() -> None:
    for event in EVENTS:
        model = TextClassifier(event).fit(TEXTS, LABELS)
        assert model.predict_proba(["cheap lunch", "see pills at one"]).max() < 0.99, event


def test_smoothing_is_chosen_among_the_grid_by_documents_left_out() -> None:
    new = corpus(1000, 1)
    model = TextClassifier("boolean", calibrated=False).fit(*corpus(300))
    assert model.smoothing_ in GRID
    losses = {alpha: log_loss(model.set_params(smoothing=alpha), *new) for alpha in (1e-4, 1e4)}
    model.set_params(smoothing="held-out")
    assert log_loss(model, *new) < min(losses.values())


def test_what_is_left_when_all_sampled_documents_are_forgotten_still_answers() -> None:
    texts, labels = [f"{i % 2} {i}" for i in range(2600)], [str(i % 2) for i in range(2600)]
    model = TextClassifier("boolean", ngrams=(1, 1)).fit(texts, labels)
    sampled = {row.cells[0] for row in model.statistics_.sample.rows.values()}
    gone = [i for i, text in enumerate(texts) if text in sampled]
    with pytest.warns(SmallSample, match="0 are left"):
        model.forget([texts[i] for i in gone], [labels[i] for i in gone])
    assert not model.statistics_.sample.rows
    assert model.predict(["0 hello", "1 hello"]).tolist() == ["0", "1"]


def test_one_class_is_said_and_one_document_each_is_enough() -> None:
    for name in SETTINGS:
        model = model_of(name).set_params(priors=None)
        with pytest.warns(OneClass):
            model.fit(TEXTS[:2], LABELS[:2])
        np.testing.assert_array_equal(model.predict_proba(ODD), 1.0)
        model.fit(TEXTS[1:3], LABELS[1:3])
        assert model.predict(TEXTS[1:3]).tolist() == LABELS[1:3], name
