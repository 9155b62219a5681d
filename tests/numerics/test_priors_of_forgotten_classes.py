"""Priors name classes: what holds when all rows of one are forgotten, or have not come yet."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import suffice
from suffice.cli.app import main
from suffice.errors import BadSetting

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.filterwarnings("ignore::suffice.errors.SmallSample")

PRIORS = {"a": 0.5, "b": 0.3, "c": 0.2}
LEFT = {"a": 0.625, "b": 0.375}
KINDS: dict[str, Any] = {
    "shared": suffice.GaussianDiscriminant,
    "auto": lambda **more: suffice.GaussianDiscriminant("auto", **more),
    "predictive": lambda **more: suffice.GaussianDiscriminant("diagonal", predictive=2.0, **more),
    "kept rows": lambda **more: suffice.GaussianDiscriminant(calibration_rows=8, **more),
    "naive Bayes": lambda **more: suffice.NaiveBayes("gaussian", **more),
    "held out": lambda **more: suffice.NaiveBayes("gaussian", temperature="held-out", **more),
    "Bernoulli": suffice.BernoulliNaiveBayes,
    "multinomial": lambda **more: suffice.MultinomialNaiveBayes(temperature="left-out", **more),
    "words": lambda **more: suffice.TextClassifier("multinomial", calibrated=False, **more),
    "texts": suffice.TextClassifier,
}


def rows(kind: str) -> tuple[Any, Any]:
    rng = np.random.default_rng(3)
    y = np.array(["a", "b", "c"])[np.arange(36) % 3]
    if kind in ("words", "texts"):
        words = np.array(["free", "lunch", "at", "see"])
        return np.array([" ".join(rng.choice(words, size=4)) for _ in y]), y
    return np.abs(np.round(rng.normal(size=(36, 3)) * 3.0)), y


@pytest.mark.parametrize("kind", KINDS)
def test_other_classes_keep_their_proportions_when_one_is_forgotten(
    kind: str, tmp_path: Path
) -> None:
    X, y = rows(kind)
    gone = y == "c"
    model = KINDS[kind](priors=PRIORS).fit(X, y)
    whole = model.predict_proba(X)
    np.testing.assert_allclose(model.forget(X[gone], y[gone]).priors_, list(LEFT.values()))
    assert model.priors == PRIORS  # they are settings: nothing changes them
    said = model.predict_proba(X)
    if kind != "auto":  # whose form was chosen by all rows
        again = KINDS[kind](priors=LEFT).fit(X[~gone], y[~gone])
        np.testing.assert_allclose(said, again.predict_proba(X), rtol=0.0, atol=1e-9)
    model.save(tmp_path / "model")
    back = suffice.load(tmp_path / "model")
    assert back.priors == PRIORS
    np.testing.assert_array_equal(back.predict_proba(X), said)
    back.partial_fit(X[gone], y[gone])
    np.testing.assert_allclose(back.priors_, list(PRIORS.values()))
    np.testing.assert_allclose(back.predict_proba(X), whole, rtol=0.0, atol=1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_a_stream_answers_before_every_class_has_come(kind: str) -> None:
    X, y = rows(kind)
    here = y != "c"
    model = KINDS[kind](priors=PRIORS).partial_fit(X[here], y[here])
    np.testing.assert_allclose(model.priors_, list(LEFT.values()))
    with pytest.raises(BadSetting, match="priors name 'c', which is not a class"):
        KINDS[kind](priors=PRIORS).fit(X[here], y[here])


@pytest.mark.parametrize("kind", KINDS)
def test_forgetting_all_classes_that_are_possible_is_refused(kind: str) -> None:
    X, y = rows(kind)
    model = KINDS[kind](priors={"a": 0.5, "b": 0.5, "c": 0.0}).fit(X, y)
    before = model.predict_proba(X)
    with pytest.raises(BadSetting, match="the priors of 'c' are all 0, and no other class has row"):
        model.forget(X[y != "c"], y[y != "c"])
    np.testing.assert_array_equal(model.predict_proba(X), before)


def test_the_command_forgets_a_class_that_priors_name(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    X, y = rows("shared")
    lines = [",".join([*map(str, row), label]) for row, label in zip(X, y, strict=True)]
    table, gone, place = (tmp_path / name for name in ("all.csv", "c.csv", "model.suffice"))
    table.write_text("\n".join(["u,v,w,kind", *lines]))
    gone.write_text("\n".join(["u,v,w,kind", *(line for line in lines if line.endswith("c"))]))
    priors = "a=0.5,b=0.3,c=0.2"
    for model in ("gda", "naive-bayes"):
        fit = ["fit", str(table), "--target", "kind", "--model", model, "--priors", priors]
        assert main([*fit, "-o", str(place)]) == 0
        assert main(["forget", str(place), str(gone)]) == 0, capsys.readouterr().err
        np.testing.assert_allclose(suffice.load(place).priors_, list(LEFT.values()))
        assert main(["learn", str(place), str(gone)]) == 0
        np.testing.assert_allclose(suffice.load(place).priors_, list(PRIORS.values()))
