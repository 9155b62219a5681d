"""What Python answers, written down for the engine in JavaScript to be held against."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import special

from suffice import (
    ComplementNaiveBayes,
    GaussianDiscriminant,
    GaussianMixture,
    LogisticRegression,
    MixtureDiscriminant,
    NaiveBayes,
    Perceptron,
    TextClassifier,
)
from suffice.columns.spellings.calendar_words import MONTH_NAMES
from suffice.columns.spellings.spelling import Spelling
from suffice.columns.spellings.written_numbers import CURRENCIES, written_number
from suffice.families import Bernoulli
from suffice.kernels.tokens.counts import terms_of
from suffice.kernels.tokens.term_hash import term_hash
from suffice.models.gaussian.normal_fit import predictive_p_values
from suffice.rows import read_table
from suffice.storage.model_file import stored_posterior
from suffice.training.opened_files import open_classifier
from suffice.web.model_content import model_content

ROWS = 120
"""Rows that models learn from; as many are asked about, some with blanks."""


def frame(rng: np.random.Generator) -> tuple[pd.DataFrame, np.ndarray]:
    """Return rows of every kind of column, in three classes."""
    y = rng.integers(0, 3, ROWS)
    X = pd.DataFrame(
        {
            "length": rng.normal(1e3 + y, 1.0),
            "width": rng.normal(2.0 * y, 1.0 + y),
            "money": rng.lognormal(0.5 * y, 0.7),
            "visits": rng.poisson(2.0 + 3.0 * y),
            "colour": rng.choice(["red", "green", "blue"], ROWS),
            "member": rng.random(ROWS) < 0.3 + 0.2 * y,
        }
    )
    X.loc[rng.choice(ROWS, 9, replace=False), "colour"] = None
    return X, np.array(["ann", "bob", "<c>"])[y]


def with_blanks(X: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
    """Return rows some of whose numbers are blank."""
    found = X.copy()
    for name in ("length", "width", "money"):
        if name in found:
            found.loc[rng.random(len(found)) < 0.2, name] = np.nan
    return found


def plain(cell: Any) -> Any:
    """Return a cell as JSON has it."""
    if cell is None or cell is pd.NA or (isinstance(cell, float) and np.isnan(cell)):
        return None
    return cell.item() if isinstance(cell, np.generic) else cell


def stored(model: Any) -> tuple[Any, Any]:
    """Return a fitted model as its file has it."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "model.suffice"
        model.save(place)
        return open_classifier(place)


def page_case(name: str, model: Any, rows: Any, *, explained: bool = True) -> dict[str, Any]:
    """Return the content of a page, rows, and what Python says of them."""
    held, notes = stored(model)
    documents = not isinstance(rows, pd.DataFrame) and isinstance(rows[0], str)
    asked = pd.DataFrame({"text": rows}) if documents else rows
    cells = np.asarray(asked, dtype=object).tolist()
    case: dict[str, Any] = {
        "name": name,
        "content": model_content(held, notes),
        "rows": [[plain(cell) for cell in row] for row in cells],
        "posterior": stored_posterior(held, read_table(asked)).tolist(),
    }
    if explained:
        some = rows.iloc[:20] if isinstance(rows, pd.DataFrame) else rows[:20]
        found = model.explain(some)
        labels = [str(label) for label in held.state["model"].labels]
        case["explained"] = {
            "of": [labels.index(str(one)) for one in found.of],
            "against": [labels.index(str(one)) for one in found.against],
            "baseline": found.baseline.tolist(),
            "columns": list(found.columns),
            "contributions": found.contributions.tolist(),
        }
    return case


def pages(rng: np.random.Generator) -> list[dict[str, Any]]:
    """Return a case for every kind of model that a page may hold."""
    X, y = frame(rng)
    blank = with_blanks(X, rng)
    number = X[["length", "width", "money"]]
    holes = with_blanks(number, rng)
    found = []
    for form in ("shared", "per-class", "diagonal", "shared-diagonal", "spherical", "EII", "EVE"):
        model = GaussianDiscriminant(form).fit(number, y)
        case = page_case(f"gda {form}", model, holes)
        if form in ("shared", "per-class"):
            case["typicality"] = model.typicality(holes).tolist()
        found.append(case)
    for name, settings in (
        ("pooled", {"covariance": "per-class", "pool": 0.4, "divisor": "unbiased"}),
        ("priors", {"priors": {"ann": 0.7, "bob": 0.3, "<c>": 0.0}}),
        ("t", {"covariance": "per-class", "predictive": 3.0}),
        ("t apart", {"covariance": "diagonal", "predictive": 3.0}),
        ("t of spheres", {"covariance": "spherical", "predictive": 3.0}),
        ("averaged", {"covariance": "auto", "average": True}),
    ):
        flat = name in ("pooled", "priors")
        model = GaussianDiscriminant(**settings).fit(number, y)
        found.append(page_case(f"gda {name}", model, holes, explained=flat))
    found.append(page_case("gda of a mixed table", GaussianDiscriminant().fit(blank, y), blank))
    numeric = {"width": "predictive-gaussian", "money": "shared-lognormal", "visits": "poisson"}
    for name, settings in (
        ("auto", {}),
        ("named", {"families": {**numeric, "length": "binned", "member": "bernoulli"}}),
        ("shared", {"families": {"length": "shared-gaussian"}}),
        ("lukewarm", {"temperature": 0.6}),
        ("averaged", {"temperature": "left-out"}),
        ("unsmoothed", {"smoothing": 0.0}),
    ):
        model = NaiveBayes(**settings).fit(X, y)
        found.append(page_case(f"naive Bayes {name}", model, blank, explained=name != "unsmoothed"))
    counts = rng.poisson(1.0 + np.eye(3)[np.unique(y, return_inverse=True)[1]] * 3.0)
    for family in (
        "multinomial",
        ComplementNaiveBayes(),
        Bernoulli(1.0),
        "poisson",
        "binned",
        "gaussian",
    ):
        model = (family if hasattr(family, "fit") else NaiveBayes(family)).fit(counts, y)
        found.append(page_case(f"naive Bayes {family}", model, counts.astype(float)))
    two = np.where(y == "ann", "yes", "no")
    found.append(page_case("logistic", LogisticRegression(1.0).fit(number, two), number))
    mixed = X.assign(colour=X["colour"].fillna("red"))
    found.append(page_case("softmax", LogisticRegression(1.0).fit(mixed, y), mixed))
    found.append(
        page_case("averaged", LogisticRegression("average").fit(mixed, y), mixed, explained=False)
    )
    mixture = GaussianMixture(2, "VVV", random_state=0).fit(number)
    found.append(page_case("mixture", mixture, holes, explained=False))
    for name, several in (
        ("two each", MixtureDiscriminant(2, random_state=0)),
        ("one form", MixtureDiscriminant({"ann": 1, "bob": 2, "<c>": 3}, "EEE", random_state=0)),
        ("round", MixtureDiscriminant(2, "VII", random_state=0)),
    ):
        case = page_case(
            f"mixtures by class, {name}", several.fit(number, y), holes, explained=False
        )
        found.append(case)
    for name, few in (("one", {}), ("own", {"covariance": "per-class"})):
        model = GaussianDiscriminant(factors=1, **few).fit(number, y)
        found.append(page_case(f"factors, {name}", model, holes, explained=False))
    return found + texts()


TEXTS = [
    "Win a FREE prize now!!", "cheap pills, cheap watches", "claim your £1000 prize today",
    "free entry: call now", "lunch at one?", "see you at the café", "naïve question about lunch",
    "meeting moved to Monday", "Straße und Gemüse", "Don't forget the milk",
]  # fmt: skip
"""Documents, the first four of which are spam."""


def texts() -> list[dict[str, Any]]:
    """Return cases of text models, one an event model."""
    labels = ["spam"] * 4 + ["ham"] * 6
    asked = [*TEXTS, "", "£££ free lunch", "日本語 prize ４２", "x" * 50, "a\nb\tc d"]
    found = []
    for event in ("boolean", "multinomial", "bernoulli", "complement", "language", "both"):
        model = TextClassifier(event, limit=40).fit(TEXTS, labels)
        found.append(page_case(f"text {event}", model, asked))
    model = TextClassifier("boolean", calibrated=False, lower=False).fit(TEXTS, labels)
    found.append(page_case("text at its word", model, asked))
    return found


def fits(rng: np.random.Generator) -> dict[str, Any]:
    """Return rows, and what models learn from them."""
    codes = np.repeat([0, 1, 2], [30, 50, 40])
    X = rng.normal(size=(ROWS, 2)) @ np.array([[1.0, 0.5], [0.0, 0.8]]) + codes[:, np.newaxis] * 1.5
    asked = rng.normal(1.5, 2.0, size=(40, 2))
    forms = {}
    for name, form in (
        ("shared", "shared"), ("per-class", "per-class"), ("diagonal", "diagonal"),
        ("shared-diagonal", "shared-diagonal"), ("spherical", "spherical"),
        ("shared-spherical", "EII"),
    ):  # fmt: skip
        model = GaussianDiscriminant(form).fit(X, codes)
        forms[name] = {
            "posterior": model.predict_proba(asked).tolist(),
            "log_density": model.log_density(asked).tolist(),
        }
    softmax = LogisticRegression().fit(X, codes)
    two = codes < 2
    binary = LogisticRegression(0.5).fit(X[two], codes[two])
    mistaken = Perceptron(epochs=3, average=False, shuffle=False).fit(X[two], codes[two])
    return {
        "rows": X.tolist(),
        "codes": codes.tolist(),
        "asked": asked.tolist(),
        "forms": forms,
        "softmax": softmax.predict_proba(asked).tolist(),
        "binary": {
            "coef": binary.coef_.tolist(),
            "intercept": binary.intercept_.tolist(),
            "posterior": binary.predict_proba(asked).tolist(),
        },
        "perceptron": {"means": X[two].mean(axis=0).tolist(), "scale": X[two].std(axis=0).tolist(),
                       "predicted": mistaken.predict(asked).tolist()},
        "em": em_step(X, codes),
    }  # fmt: skip


def em_step(X: np.ndarray, codes: np.ndarray) -> dict[str, Any]:
    """Return one step of EM from the classes as components, written out."""
    from scipy.stats import multivariate_normal

    shares = np.bincount(codes) / len(codes)
    means = [X[codes == c].mean(axis=0) for c in range(3)]
    covariances = [np.cov(X[codes == c].T, bias=True) for c in range(3)]
    joint = np.column_stack([
        shares[c] * multivariate_normal(means[c], covariances[c]).pdf(X) for c in range(3)
    ])  # fmt: skip
    parts = joint / joint.sum(axis=1, keepdims=True)
    weights = parts.sum(axis=0)
    new = parts.T @ X / weights[:, np.newaxis]
    spread = [
        (parts[:, c] * (X - new[c]).T) @ (X - new[c]) / weights[c] for c in range(3)
    ]  # fmt: skip
    return {
        "log_likelihood": float(np.log(joint.sum(axis=1)).sum()),
        "means": new.tolist(),
        "covariances": [one.tolist() for one in spread],
        "shares": (weights / weights.sum()).tolist(),
    }


def functions() -> dict[str, Any]:
    """Return special functions at many places."""
    at = [0.1, 0.5, 1.0, 1.5, 2.0, 3.3, 9.9, 10.0, 50.5, 1e3, 1e6]
    pairs = [(a, b, x) for a in (0.5, 1.0, 4.5, 60.0, 900.0) for b in (0.5, 2.0, 30.0)
             for x in (1e-6, 0.05, 0.5, 0.93, 0.9999)]  # fmt: skip
    tails = [(q, d, nu, h) for q in (0.0, 0.1, 3.0, 50.0) for d in (1, 2, 7)
             for nu in (5.0, 12.0, 400.0) for h in (0.0, 0.2)]  # fmt: skip
    written = ["$1,653.76", "(1,234)", "31%", "12 kg", "A12", "1.234,5", "−3", "1e5", "5,--",
               "12'345", "1 234 567", "CHF 12.50", "US$ 7", "007", "1,2", "12,34,567",
               "$ (1,234.50)", " $ -   ", "- €", "%31", "%31%", "Rs. 1,10,000/-", "١٢٫٥",
               "１，２００円", "\u200f1.5", "(-5)", "$ (5", "▲1,234", "١٢ ر.س", "5 zl", "12.5 a.b",
               "₹ ۱۲", "1.5×10^5", "1,731·10⁻³", "2 x 10^-3", "5x10", "12,5-%", "12-%", "12-kg",
               "52.1° N", "12.50 Cr", "20240105103000Z"]  # fmt: skip
    return {
        "log_gamma": [[x, float(special.gammaln(x))] for x in at],
        "beta": [[*pair, float(special.betainc(*pair))] for pair in pairs],
        "gamma_tail": [[a, x, float(special.gammaincc(a, x))] for a in (0.5, 1.0, 5.0, 80.0)
                       for x in (0.01, 1.0, 6.0, 100.0)],
        "predictive": [[*tail, float(predictive_p_values(*tail))] for tail in tails
                       if tail[2] - tail[1] + 1 > 0],
        "terms": [[text, [[term, str(term_hash(term))] for term in terms_of(text, (1, 2), True)]]
                  for text in [*TEXTS, "don't-stop £££!!", "İstanbul ǅ ΣΑΣ"]],
        "written": [[text, _written(text)] for text in written],
        "currencies": sorted(CURRENCIES),
        "months": list(MONTH_NAMES),
        "dates": [[text, order, _date(text, order)] for text in DATES for order in ORDERS],
    }  # fmt: skip


def _written(text: str) -> Any:
    found = written_number(text)
    return None if found is None else list(found)


DATES = [
    "2024-01-05", "5/1/2024", "31.12.1999", "12/31/99", "05-01-24", "2024-01-05 18:30",
    "2024-01-05T07:00:00+01:00", "5/1/2024 6:00 PM", "30.2.2024", "1969-12-31 23:59:59.5",
    "2024/2/29", "29.2.2023", "14:30", "7:05:30", "2024-01-05T10:15Z", "5 January 2024",
    "Jan 5, 2024", "5. März 2024", "Friday, 5 Jan 2024 at 6:30 pm", "le 3 août 2021", "14-Feb-99",
    "sept 2020", "Mar-24", "3 de mayo de 2019", "5 янв 2024 г.", "2024년 1월 5일", "2024年1月",
    "20240105T103000Z", "1/2024", "2024-07", "45296", "20240105", "1704412800", "1.704e12",
    "May be", "Ju 5, 2024", "32 January 2024", "5 Jan 2024 10:15 CET",
    "5 Jan 2024 10:15 IST", "10h30", "noon",
    "6 pm", "5 Jan 2024 25:00", "2024-01-05 10:15:30.25+05:30 [Asia/Kolkata]", "x 5 Jan 2024",
    "2024-W01", "2024W053", "2024-W53", "2020-W53-7", "2021-W00", "2024-Q3", "Q4 2023", "2024Q1",
    "2024-Q5", "Q1 24", "05.01.2024 г.", "٢٠٢٤/٠١/٠٥", "２０２４年１月５日",
    "Fri Jan 05 2024 10:00:00 GMT+0100 (Central European Standard Time)",
    "Mo, 05.01.2024", "mar. 5/3/2024", "vor 5.1.2024", "Mar 5, 2024", "令和6年1月5日",
    "平成元年2月3日", "2024年1月5日10時30分", "10時30分05秒", "KW 5/2024", "2024-KW07",
    "1. Quartal 2024", "3rd quarter 2023", "Quartal 2/2024", "1000:00:00",
    "05/Jan/2024:10:30:00 +0100", "20240105103000Z",
    "PT1H5M", "P1DT2H", "PT", "PT90.5S", "5.1.2024 klo 10.30", "5 tammikuuta 2024",
    "5 ianuarie 2024", "30. des. 2023", "٥ يناير ٢٠٢٤",
]  # fmt: skip
"""Dates and times that a page reads as Python does, or neither does."""
ORDERS = ("dmy", "mdy", "ymd", "clock", "number")
"""How the dates of a column may be written."""


def _date(text: str, order: str) -> float | None:
    return Spelling("number", date=order).value(text)


def vectors(seed: int = 7) -> dict[str, Any]:
    """Return everything that the engine is held against."""
    rng = np.random.default_rng(seed)
    return {"pages": pages(rng), "fits": fits(rng), "functions": functions()}
