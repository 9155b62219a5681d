"""Model files of every format there has been, and what they answered when they were written.

    python -m tests.reference.stored_files      writes the files of the format of now

Run it once for each new format. Files that are there are never written again: they are what users
have on their disks.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import suffice
from suffice.storage.model_file import FORMAT

FOLDER = Path(__file__).parent / "model_files"


def rows(size: int = 40) -> tuple[pd.DataFrame, list[str]]:
    """Return a frame of numbers, words, counts and truths, with blanks."""
    rng = np.random.default_rng(1)
    labels = [("ham", "spam", "news")[i % 3] for i in range(size)]
    codes = np.arange(size) % 3
    frame = pd.DataFrame(
        {
            "length": 100.0 + 20.0 * codes + 15.0 * rng.normal(size=size),
            "colour": np.array(["red", "blue", "grün"], dtype=object)[
                (codes + rng.integers(2, size=size)) % 3
            ],
            "links": rng.poisson(1.0 + codes),
            "known": rng.random(size) < 0.3 + 0.2 * codes,
        }
    )
    return frame, labels


def blank(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the frame with some cells empty."""
    gappy = frame.copy()
    gappy.loc[::7, "length"] = np.nan
    gappy.loc[3::11, "colour"] = None
    return gappy


def counts() -> pd.DataFrame:
    """Return a frame of counts, rows in the order of the labels of `rows`."""
    rng = np.random.default_rng(2)
    codes = np.arange(40) % 3
    return pd.DataFrame({f"w{j}": rng.poisson(0.5 + (codes + j) % 3) for j in range(5)})


def texts() -> pd.DataFrame:
    """Return a frame of texts, rows in the order of the labels of `rows`."""
    rng = np.random.default_rng(3)
    words = [["lunch", "at", "one?", "grün"], ["cheap", "pills", "now!!!", "$"], ["new", "at", "x"]]
    return pd.DataFrame({"text": [" ".join(rng.choice(words[i % 3], size=5)) for i in range(40)]})


def models() -> dict[str, tuple[Any, pd.DataFrame]]:
    """Return fitted models by name, each with the rows it was learned from."""
    frame, labels = rows()
    gappy, words = blank(frame), counts()
    gda = suffice.GaussianDiscriminant
    numbers = frame[["length", "links"]]
    separated = numbers.assign(length=numbers["length"] + 500.0 * (np.arange(40) % 3))
    fitted: list[tuple[str, Any, pd.DataFrame]] = [
        ("gda", gda(), frame),
        ("gda_per_class", gda("per-class", pool=0.1, shrink=0.2), frame),
        ("gda_diagonal", gda("diagonal"), blank(frame)),
        ("gda_auto", gda("auto"), numbers),
        ("naive_bayes", suffice.NaiveBayes(), gappy),
        ("naive_bayes_predictive", suffice.NaiveBayes({"length": "predictive-gaussian"}), gappy),
        ("bernoulli", suffice.BernoulliNaiveBayes(), words),
        ("multinomial", suffice.MultinomialNaiveBayes(smoothing="held-out"), words),
        ("complement", suffice.ComplementNaiveBayes(), words),
        ("logistic", suffice.LogisticRegression(penalty=0.5), frame),
        ("logistic_auto", suffice.LogisticRegression("auto"), frame),
        ("logistic_average", suffice.LogisticRegression("average"), frame),
        ("perceptron", suffice.Perceptron(random_state=0), separated),
        ("text", suffice.TextClassifier(), texts()),
        ("pool", suffice.Pool(), gappy),
        ("mixture_discriminant", suffice.MixtureDiscriminant({"news": 2}, "EEE"), numbers),
    ]
    found = {name: (model.fit(held, labels), held) for name, model, held in fitted}
    law = suffice.MultivariateNormal.fit(blank(frame)[["length", "links"]])
    mixture = suffice.GaussianMixture(2, "VVI", noise=True, random_state=0).fit(
        blank(frame)[["length", "links"]]
    )
    latent = suffice.LatentClasses(2, starts=2, random_state=0).fit(gappy)
    return {
        **found,
        "normal": (law, numbers),
        "mixture": (mixture, numbers),
        "latent_classes": (latent, gappy),
    }


def answers(model: Any, frame: pd.DataFrame) -> dict[str, Any]:
    """Return what a model says about the first rows, now and after it has learned two again."""
    some = frame.head(6)
    if isinstance(model, suffice.MultivariateNormal):
        densities, typicality = model.log_density(some), model.typicality(some)
        return {"log densities": [densities.tolist()], "typicality": [typicality.tolist()]}
    if isinstance(model, suffice.GaussianMixture | suffice.LatentClasses):
        return {
            "probabilities": model.predict_proba(some).tolist(),
            "log densities": [model.score_samples(some).tolist()],
        }
    # Scores of a perceptron are not probabilities.
    ask = model.decision_function if isinstance(model, suffice.Perceptron) else model.predict_proba
    first = ask(some).tolist()
    if getattr(model, "penalty", None) == "average" or not hasattr(model, "partial_fit"):
        return {"classes": list(model.classes_), "probabilities": first}
    again = list(model.classes_[:2])
    model.partial_fit(frame.head(2), again)
    return {
        "classes": list(model.classes_),
        "probabilities": first,
        "after learning": ask(some).tolist(),
    }


def main() -> None:
    """Write the files of this format that are not there yet, and what they answer."""
    FOLDER.mkdir(exist_ok=True)
    for name, (model, frame) in models().items():
        place = FOLDER / f"v{FORMAT}_{name}.suffice"
        if place.exists():
            continue
        model.save(place)
        text = json.dumps(answers(model, frame), indent=1, ensure_ascii=False)
        place.with_suffix(".json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
