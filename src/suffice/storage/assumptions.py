"""What a stored model assumes, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from suffice.storage.known_classes import name_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from suffice.models.linear.logistic.result import LogisticFit
    from suffice.models.linear.penalty_path.path import PenaltyPath
    from suffice.models.naive_bayes.model import NaiveBayesModel
    from suffice.models.text.learner import TextRecord
    from suffice.storage.model_file import StoredModel

FORMS = {
    "shared": "all classes share one covariance",
    "per-class": "each class has its own covariance",
    "diagonal": "columns are independent; each class has its own variances",
    "shared-diagonal": "columns are independent; all classes share the variances",
    "spherical": "each class has one variance for all columns",
}
"""Forms of the covariance in words."""
EVENTS = {
    "bernoulli": "each term is in a document or not, independently of the others",
    "boolean": "the different terms of a document are drawn independently",
    "complement": "a document is compared with those of all other classes",
    "multinomial": "the terms of a document are drawn independently",
}
"""What a text model assumes about terms, in words."""


def assumptions(stored: StoredModel) -> list[str]:
    """Return what a model assumes, a sentence each."""
    model, settings = stored.state["model"], stored.settings
    given = ["class probabilities are those that were given, not the shares of the rows"]
    given = given if settings.get("priors") is not None else []
    if name_of(model) == "GenerativeModel":
        return _of_covariances(stored) + given
    if name_of(model) == "TextRecord":
        return _of_texts(model) + given
    if name_of(model) == "NaiveBayesModel":
        found = _of_columns(model)
        if model.temperature != 1.0:
            found.append(
                f"but partly repeat each other: evidence counts {model.temperature:.3g} times"
            )
        return found + given
    if name_of(model) == "PoolModel":
        return [
            "new rows come from the same distribution as the training rows",
            "members are weighted by how well they predict rows they have not seen",
            *(
                ["texts are independent of the other columns within a class, up to their weight"]
                if model.texts is not None
                else []
            ),
        ]
    if stored.estimator == "Perceptron":
        return ["a plane separates the classes, or nearly so; its scores are not probabilities"]
    if name_of(model) == "AveragedForm":
        return [
            "under each of some penalties the log odds of the classes are linear in the columns",
            "and probabilities are averaged over the penalties",
        ]
    found = ["the log odds of the classes are linear in the columns"]
    fit: LogisticFit | None = stored.state.get("found")
    if fit is not None and fit.penalty > 0.0:
        zero = " or zero" if fit.l1_ratio > 0.0 else ""
        found.append(f"coefficients are small{zero}: a penalty of {fit.penalty:g}")
    path: PenaltyPath | None = stored.state.get("path")
    if path is not None:
        found.append(f"the penalty, {path.penalty:g}, was chosen by the log-loss on rows left out")
    if fit is not None and fit.correction is not None:
        found.append("coefficients are shrunk by Jeffreys' prior (Firth's correction)")
    if fit is not None and fit.separation is not None:
        found.append("but a plane separates its classes: the likelihood has no maximum")
    if fit is not None and fit.undecided is not None:
        found.append(
            "it is unknown whether a plane separates its classes: there are no standard errors"
        )
    return found


def _of_covariances(stored: StoredModel) -> list[str]:
    """Return what is assumed about the covariances of normal classes."""
    if "mixtures" in stored.state:
        return _of_mixtures(stored)
    settings, chosen = stored.settings, stored.state.get("chosen")
    form = str(settings.get("covariance", "shared"))
    if "mixture" in stored.state:
        form = stored.state["mixture"].form
    words = FORMS
    if "mixture" in stored.state:
        from suffice.models.mixture.factored.factor_forms import factors_of, is_one

        count = factors_of(form)
        if count is not None:
            many = "1 factor" if count == 1 else f"{count} factors"
            whose = "the same in all classes" if is_one(form) else "in each class its own"
            covariance = f"covariances come from {many} and a variance of each column, {whose}"
            return ["the rows of each class are normal", covariance]
    if form not in FORMS:  # who has one of our words need not load the letters
        from suffice.models.gaussian.forms import IN_WORDS, SPOKEN

        form, words = SPOKEN.get(form, form), FORMS | IN_WORDS
    pool, shrink = settings.get("pool"), settings.get("shrink")
    form = "per-class" if settings.get("average") else form
    if chosen is not None:
        pool, shrink = chosen.pool, chosen.shrink
        form = "shared" if pool == 1.0 else "per-class"
    found = ["the rows of each class are normal", words.get(form, form)]
    found += _of_averages(settings)
    if pool and form == "per-class":
        found.append(f"pooled with that of all classes, by {pool:g}")
    if settings.get("factors") is not None:
        count = stored.state["model"].densities.loadings.shape[2]
        many = "1 factor" if count == 1 else f"{count} factors"
        chosen_by = ", a number chosen by BIC" if settings["factors"] == "auto" else ""
        found.append(f"correlations between columns come from {many}{chosen_by}")
    if shrink:
        found.append(f"covariances between columns are shrunk, by {shrink:g}")
    return found if chosen is None else [*found, "which was chosen by leave-one-out"]


def _of_mixtures(stored: StoredModel) -> list[str]:
    """Return what is assumed about classes that are mixtures."""
    model, record = stored.state["model"], stored.state["mixtures"]
    found = ["the rows of each class are a mixture of normal components"]
    numbers = model.densities.components_by_class
    for label, number, form in zip(model.labels, numbers, record.forms, strict=True):
        several = "1 component" if number == 1 else f"{number} components, with covariances"
        found.append(f"class '{label}': {several} of form {form}")
    if stored.settings.get("shared"):
        found.append("one form was chosen for the covariances of all classes")
    return found


def _of_averages(settings: Mapping[str, object]) -> list[str]:
    """Return what is averaged over, and what is assumed before any row is seen."""
    found = []
    predictive, temperature = settings.get("predictive"), settings.get("temperature")
    if predictive is not None:
        worth = "several strengths, averaged" if predictive == "auto" else f"{predictive:g} rows"
        found.append(f"means and covariances are averaged over, under a prior worth {worth}")
    if settings.get("average"):
        found.append("pooled and shrunk to several degrees, which are averaged")
    if temperature == "left-out":
        found.append("evidence counts in part, to several degrees, which are averaged")
    elif temperature is not None:
        found.append(f"evidence counts {temperature:.3g} times")
    return found


def _of_columns(model: NaiveBayesModel) -> list[str]:
    """Return what is assumed about the columns of naive Bayes."""
    if not any(law.is_density for law in model.laws):
        return [
            "the counts of a row are draws, one by one, with the shares of a class",
            "a row is compared with the rows of all other classes: scores are not probabilities",
        ]
    if not any(law.by_column for law in model.laws):
        return ["the counts of a row are draws, one by one, with the shares of its class"]
    found = ["the columns are independent within each class"]
    if not all(law.by_column for law in model.laws):
        found.append("but those that are multinomial are the counts of one list of draws")
    return found


def _of_texts(model: TextRecord) -> list[str]:
    """Return what is assumed about documents."""
    found = []
    if model.terms is not None and model.term_counts is not None:
        kinds = sum(group.width for group in model.term_counts.groups.values())
        found += [
            f"{EVENTS[model.terms.event]} ({kinds:,} counts)",
            f"{model.smoothing:.3g} is added to the count of every term in every class",
        ]
    if model.language is not None and model.ngram_counts is not None:
        counts = model.ngram_counts.groups.values()
        found.append(
            f"a byte of a text depends on the {model.language.order - 1} before it "
            f"({sum(group.width for group in counts):,} counts)"
        )
    if model.factors is not None:
        told = ", ".join(f"{factor:.3g}" for factor in model.factors)
        found.append(f"but the evidence of n terms or bytes counts as that of {told} times √n")
    return found
