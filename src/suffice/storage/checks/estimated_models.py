"""One file, one answer: a stored model is what its statistics become under its settings.

A file with statistics says the same thing twice, so the model is estimated from the statistics
whenever a file is read: whoever reads it, for predictions or to learn more, has the same model, bit
for bit. The model that was stored has to agree with it; else the file is refused. What the models
are made of is imported where a file holds such a model: the others cost nothing.
"""

from __future__ import annotations

import warnings
from dataclasses import fields, is_dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.errors import BadFile
from suffice.statistics.by_pattern import ByPattern
from suffice.statistics.folds import Folds
from suffice.statistics.row_sample import WithRows
from suffice.storage.checks.form_checks import check_form, refusal
from suffice.storage.known_classes import name_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from suffice.models.gaussian.averages.learner import AveragingLearner
    from suffice.models.gaussian.learner import GaussianLearner
    from suffice.models.gaussian.predictive.averaged_laws import AveragedLaws
    from suffice.models.latent.maximization import HiddenClasses
    from suffice.models.naive_bayes.learner import NaiveBayesLearner
    from suffice.models.naive_bayes.product import Product
    from suffice.models.pool.model import PoolModel

ROUNDING = 1e-6
"""How far the parameters of equal models may be apart, in standard deviations, in logarithms, or
relative to themselves: versions of NumPy and BLAS add up in another order, and what is left of 16
digits after that is more than ten."""
SEARCHED = 1e-3
"""The same for what is found by a search that ends when it moves no more: EM, and the smoothing and
temperature that are best for rows held out. Another order of additions may end a step sooner."""
LAST_DIGITS = 1e-12
"""The same for what is computed again in one step, without sums over rows."""
GAUSSIAN = ("covariance", "pool", "shrink", "shrink_target", "divisor")
"""Settings of an estimator that make its Gaussian family."""
AVERAGED = ("predictive", "prior_rows", "temperature", "average")
"""Settings of an estimator whose posteriors are averages."""
KEPT = ("calibration_rows", "unlabelled")
"""Settings that keep rows beside the statistics, or were about how these came to be."""
ESTIMATED: dict[str, tuple[str, ...]] = {
    "GaussianDiscriminant": (*GAUSSIAN, *AVERAGED, "factors", "priors", *KEPT),
    "NaiveBayes": ("families", "smoothing", "temperature", "priors", *KEPT),
    "BernoulliNaiveBayes": ("threshold", "smoothing", "temperature", "priors", *KEPT),
    "ComplementNaiveBayes": ("boolean", "smoothing", *KEPT),
    "MultinomialNaiveBayes": ("boolean", "smoothing", "temperature", "priors", *KEPT),
    # All but the first two are about the search, which is over.
    "LatentClasses": (
        *("families", "smoothing", "components", "start", "criterion", "starts", "tol"),
        *("max_iter", "random_state"),
    ),
}
"""Settings of estimators whose model is estimated from statistics: what they do is known here."""
HIDDEN = {"GaussianMixture": "mixture", "MixtureDiscriminant": "mixtures"}
"""Estimators of normal components that are found by going through rows, for which no statistics
suffice; and the record that a file has of each."""
LATENT = "LatentClasses"
"""The estimator of hidden classes over columns of every kind: statistics hold what rows said in the
last step, and the model is what they become."""


def check_settings(estimator: str, settings: Mapping[str, Any], state: Mapping[str, Any]) -> None:
    """Refuse a model whose priors, smoothing or families are not those of the settings.

    A mixture, which no statistics become, is refused where it comes with some or without a record.
    """
    model = state["model"]
    if name_of(model) == "NaiveBayesModel":
        asked = _asked(estimator, settings)
        if state["chosen"]["asked"] != asked or type(state["chosen"]["asked"]) is not type(asked):
            raise refusal("chosen", "has other families than the settings ask for")
        if estimator not in ("NaiveBayes", LATENT) and model.product.families != (asked,):
            raise refusal("model", "has other families than the settings ask for")
    if name_of(model) == "GenerativeModel" and estimator not in HIDDEN:
        factors = name_of(model.densities) == "FactorNormals"
        if factors != (settings.get("factors") is not None):
            raise refusal("model", "is one of factors that its settings do not ask for, or is none")
    if (estimator == LATENT) != (name_of(state.get("latent")) == "LatentRecord"):
        raise refusal("latent", "is not there, or belongs to another estimator")
    for name, record in HIDDEN.items():
        if (estimator == name) != (record in state):
            raise refusal(record, "is not there, or belongs to another estimator")
    if estimator in HIDDEN and state["statistics"] is not None:
        raise refusal("statistics", "cannot be those of a mixture")
    if estimator == "LogisticRegression":
        _check_path(settings.get("penalty"), state)
    _check_priors(estimator, settings.get("priors"), model)
    if name_of(model) == "TextRecord" and model.terms is not None:
        from suffice.models.naive_bayes.smoothing import HELD_OUT

        if settings.get("smoothing") not in (HELD_OUT, model.smoothing):
            raise refusal("model", "is not smoothed according to its settings")


def _check_priors(estimator: str, given: Any, model: Any) -> None:
    """Refuse a model whose priors are not those of the settings, or of its classes' weights."""
    if given is not None and hasattr(model, "log_priors") and estimator != "ComplementNaiveBayes":
        from suffice.models.gaussian.learner import log_priors_of

        expected = log_priors_of(given, model.labels)
        if not np.allclose(np.exp(expected), np.exp(model.log_priors), rtol=0.0, atol=ROUNDING):
            raise refusal("model", "has other priors than its settings")
    if estimator == "MixtureDiscriminant" and given is None:
        with np.errstate(divide="ignore", invalid="ignore"):
            shares = np.log(model.weights / model.weights.sum())
        if not np.allclose(shares, model.log_priors, rtol=LAST_DIGITS, atol=LAST_DIGITS):
            raise refusal("model", "has other priors than the weights of its classes")


def settled(estimator: str, settings: Mapping[str, Any], model: Any) -> Any:
    """Return what answers for a file: classes that are mixtures have the priors of their settings.

    An estimator that is loaded computes them from there. Those that the file has may differ in the
    last digit, as logarithms of one number and of many at a time do.
    """
    if estimator != "MixtureDiscriminant":
        return model
    from suffice.models.gaussian.learner import checked_log_priors

    given = settings.get("priors")
    if given is not None:
        return replace(model, log_priors=checked_log_priors(given, model.labels))
    return replace(model, log_priors=np.log(model.weights / model.weights.sum()))


def _check_path(penalty: object, state: Mapping[str, object]) -> None:
    """Refuse a path of penalties, or an average over one, that the settings do not ask for."""
    averaged = name_of(state["model"]) == "AveragedForm"
    if state.get("path") is None:
        return
    if penalty not in ("auto", "average") or averaged != (penalty == "average"):
        raise refusal("path", "is not what the settings ask for")


def _asked(estimator: str, settings: Mapping[str, Any]) -> object:
    """Return the setting that decides about families, as the estimator has it."""
    if estimator in ("NaiveBayes", LATENT):
        return settings.get("families", "auto")
    if estimator == "BernoulliNaiveBayes":
        from suffice.models.naive_bayes.families.bernoulli import Bernoulli

        return Bernoulli(settings.get("threshold", 0.0))
    from suffice.models.naive_bayes.families.complement import Complement
    from suffice.models.naive_bayes.families.multinomial import Multinomial

    kind = Complement if estimator == "ComplementNaiveBayes" else Multinomial
    return kind(settings.get("boolean", False))


def estimated(settings: Mapping[str, Any], state: Mapping[str, Any]) -> Any:
    """Return what the statistics of a file become, None where they need not: it has a `model`.

    Refuses settings that these statistics do not suffice for, and a stored model of other numbers.
    """
    model, statistics = state["model"], state["statistics"]
    settings = _with_own_priors(settings, state)
    if name_of(model) == "PoolModel":
        return _pool(settings, model, statistics)
    if statistics is None or name_of(model) not in ("GenerativeModel", "NaiveBayesModel"):
        return None
    learner: Any
    if name_of(model) == "GenerativeModel":
        learner = _gaussian(settings, state["chosen"])
        held = statistics.held if isinstance(statistics, WithRows) else statistics
        searched = isinstance(held, ByPattern) and not held.is_complete
        searched |= settings.get("factors") is not None
        searched |= getattr(learner, "keeps_rows", False)
        fits = getattr(learner, "accepts", learner.family.accepts)(statistics)
        if not fits and learner.family.accepts(held) and not hasattr(learner, "accepts"):
            statistics, fits = held, True  # a sample that nothing is judged by now
    elif "latent" in state:
        learner, searched, fits = _latent(settings, model.product), False, True
    else:
        from suffice.models.naive_bayes.smoothing import HELD_OUT

        learner = _naive_bayes(settings, model.product)
        searched = learner.keeps_rows or learner.smoothing == HELD_OUT
        held = statistics.held if isinstance(statistics, WithRows) else statistics
        fits = learner.keeps_rows <= isinstance(statistics, WithRows)
        fits &= learner.keeps_folds <= isinstance(held, Folds)
    if not fits:
        raise refusal("statistics", "are not those that the settings ask for")
    if searched:
        with warnings.catch_warnings():  # whoever fitted it has been told
            warnings.simplefilter("ignore")
            fit = learner.fit(statistics)
    else:
        fit = learner.fit(statistics)
    if _is_same(fit.model, model):  # which was checked already
        return fit
    check_form(fit.model, "what the statistics become")
    if not _agree(fit.model, model, SEARCHED if searched else ROUNDING):
        raise BadFile(
            "the model is not what its statistics become under its settings",
            hint="the file is damaged or was changed: fit again, or write it again",
        )
    return fit


def _with_own_priors(
    settings: Mapping[str, object], state: Mapping[str, Any]
) -> Mapping[str, object]:
    """Return settings whose priors are those of labelled rows alone, where the file says so."""
    held = state.get("unlabelled")
    if not isinstance(held, dict) or not held.get("own_priors") or settings.get("priors"):
        return settings
    labels = state["model"].labels
    weights: Any = held.get("labelled")
    sound = isinstance(weights, list) and len(weights) == len(labels)
    if not sound or not held.get("weight") or not all(type(w) is float for w in weights):
        return settings
    total = sum(weights)
    if not 0.0 < total < np.inf or min(weights) < 0.0:
        raise refusal("unlabelled", "has invalid weights of labelled rows")
    return {**settings, "priors": dict(zip(labels, [w / total for w in weights], strict=True))}


def _pool(settings: Mapping[str, Any], model: PoolModel, statistics: Any) -> object:
    """Return a pool with its rows; shares are taken from the file, for judging takes seconds."""
    from suffice.models.pool.learner import PoolFit
    from suffice.models.pool.members import FALLBACK

    asked = settings.get("members", "auto")
    asked = (asked,) if isinstance(asked, str) else tuple(asked)
    if asked != ("auto",) and not set(model.members) <= {*asked, FALLBACK}:
        raise refusal("model.members", "are not those that the settings ask for")
    found = replace(model, sample=statistics.sample)
    if (name := found.strange_member()) is not None:
        raise refusal("model.grids", f"of {name!r} are not those that these rows allow")
    return PoolFit(found)


def _gaussian(settings: Mapping[str, Any], chosen: object) -> GaussianLearner | AveragingLearner:
    """Return the learner of the settings; what they leave open was chosen."""
    from suffice.models.gaussian.family import Gaussian
    from suffice.models.gaussian.learner import GaussianLearner

    given = {name: settings[name] for name in GAUSSIAN if name in settings}
    average = bool(settings.get("average", False))
    if given.get("covariance") == "auto":
        given["covariance"] = "per-class"
        chosen = None if average else chosen
        given |= {n: getattr(chosen, n) for n in ("pool", "shrink", "shrink_target") if chosen}
    given |= {n: settings[n] for n in ("predictive", "prior_rows", "factors") if n in settings}
    priors, temperature = settings.get("priors"), settings.get("temperature")
    strengths = isinstance(given.get("predictive"), str)
    if not strengths and not average and temperature in (None, 1.0):
        return GaussianLearner(Gaussian(**given), priors)
    from suffice.models.gaussian.averages.grid import Averaged
    from suffice.models.gaussian.averages.learner import EM_STRENGTH, AveragingLearner
    from suffice.models.gaussian.averages.shares import LEFT_OUT, checked_temperature

    if strengths:
        given["predictive"] = EM_STRENGTH
    beta = checked_temperature(temperature, (LEFT_OUT,))
    return AveragingLearner(Gaussian(**given), priors, Averaged(strengths, average), beta)


def _naive_bayes(settings: Mapping[str, Any], product: Product) -> NaiveBayesLearner:
    from suffice.models.naive_bayes.learner import NaiveBayesLearner
    from suffice.models.naive_bayes.smoothing import checked_smoothing

    return NaiveBayesLearner(
        product,
        settings.get("priors"),
        checked_smoothing(settings.get("smoothing", 1.0)),
        settings.get("temperature"),
    )


def _latent(settings: Mapping[str, object], product: Product) -> HiddenClasses:
    """Return what makes a model of the statistics of hidden classes."""
    from suffice.models.latent.maximization import HiddenClasses, is_known
    from suffice.models.naive_bayes.smoothing import checked_smoothing

    alpha = checked_smoothing(settings.get("smoothing", 1.0))
    if isinstance(alpha, str) or not all(map(is_known, product.families)):
        raise refusal("settings", "cannot be those of latent classes")
    return HiddenClasses(product, alpha)


# Whether two models are one


def _is_same(ours: Any, theirs: Any) -> bool:
    """Whether two parts are equal bit for bit, down to their arrays; NaN is equal to nothing."""
    if type(ours) is not type(theirs):
        return False
    if isinstance(ours, np.ndarray):
        return ours.dtype == theirs.dtype and np.array_equal(ours, theirs)
    if isinstance(ours, tuple):
        return len(ours) == len(theirs) and all(map(_is_same, ours, theirs))
    if is_dataclass(ours):
        return all(_is_same(getattr(ours, f.name), getattr(theirs, f.name)) for f in fields(ours))
    return bool(ours == theirs)


def _agree(ours: Any, theirs: Any, room: float) -> bool:
    """Whether two models have the same classes, and parameters that differ by rounding."""
    if ours.labels != theirs.labels or not _near(ours.log_priors, theirs.log_priors, room):
        return False
    if not _near(ours.weights, theirs.weights, room):
        return False
    if name_of(ours) == "GenerativeModel":
        return _agree_normals(ours.densities, theirs.densities, room)
    if not _near(ours.temperature, theirs.temperature, room):
        return False
    return all(_agree_laws(a, b, room) for a, b in zip(ours.laws, theirs.laws, strict=True))


def _agree_laws(ours: Any, theirs: Any, room: float) -> bool:
    """Compare laws field by field, unless they know better how near is near."""
    if type(ours) is not type(theirs):
        return False
    if hasattr(ours, "agrees"):
        return bool(ours.agrees(theirs, room))
    pairs = [(getattr(ours, field.name), getattr(theirs, field.name)) for field in fields(ours)
             if field.name not in UNSEEN]  # fmt: skip
    return all(_agree_parts(a, b, room) for a, b in pairs)


UNSEEN = ("counts", "documents", "edges", "held", "threshold", "tokens", "totals")
"""Fields of laws that no score depends on, or that families are compared by."""


def _agree_parts(ours: Any, theirs: Any, room: float) -> bool:
    """Compare two fields: arrays, none, tuples of arrays, labels, or something with parts."""
    if name_of(ours) == "DiagonalNormals":
        return _agree_normals(ours, theirs, room)
    if hasattr(type(ours), "column_scores"):
        return _agree_laws(ours, theirs, room)
    if isinstance(ours, tuple) and ours and isinstance(ours[0], np.ndarray | None):
        return len(ours) == len(theirs) and all(
            _near(a, b, room) for a, b in zip(ours, theirs, strict=True)
        )
    if ours is None or isinstance(ours, np.ndarray):
        return _near(ours, theirs, room)
    return bool(ours == theirs)


def _agree_normals(ours: Any, theirs: Any, room: float) -> bool:
    """Compare means and covariances: factors of nearly singular ones differ where these do not."""
    if type(ours) is not type(theirs) or ours.is_shared != theirs.is_shared:
        return False
    if name_of(ours) == "AveragedLaws":
        return _agree_averages(ours, theirs, room)
    if not all(_near(getattr(ours, n), getattr(theirs, n), room)
               for n in ("freedom", "stretches") if hasattr(ours, n)):  # fmt: skip
        return False
    names = [n for n in ("origin", "origin_low", "scale", "means", "factors", "deviations",
                         "loadings", "noise") if hasattr(ours, n)]  # fmt: skip
    if all(np.array_equal(getattr(ours, name), getattr(theirs, name)) for name in names):
        return True
    diagonal = name_of(ours) in ("DiagonalNormals", "DiagonalStudents")
    spreads = [law.variances if diagonal else law.covariances for law in (ours, theirs)]
    own = spreads[0] if diagonal else np.diagonal(spreads[0], axis1=1, axis2=2)
    scale = np.sqrt(own.max(axis=0))
    means = ours.class_means, theirs.class_means
    if (np.abs(means[0] - means[1]) > room * (scale + np.abs(means[0]) * 1e-6)).any():
        return False
    unit = np.square(scale) if diagonal else np.multiply.outer(scale, scale)
    return not (np.abs(spreads[0] - spreads[1]) > room * unit).any()


def _agree_averages(ours: AveragedLaws, theirs: AveragedLaws, room: float) -> bool:
    """Compare what averages say about the class means: a share of next to nothing may be gone."""
    if ours.size != theirs.size or len(ours.origin) != len(theirs.origin):
        return False
    means = ours.class_means
    scale = np.abs(ours.scale) + np.abs(means) * 1e-6
    if (np.abs(means - theirs.class_means) > room * scale).any():
        return False
    even = np.zeros(ours.size)
    asked = np.concatenate([means, (means + means.mean(axis=0)) / 2.0])
    said = [np.exp(laws.averaged(asked, even)) for laws in (ours, theirs)]
    return _near(said[0], said[1], 10.0 * room)


def _near(ours: object, theirs: object, room: float) -> bool:
    """Whether two arrays, or none, are the same but for rounding."""
    if ours is None or theirs is None:
        return ours is theirs
    a, b = np.asarray(ours), np.asarray(theirs)
    if a.shape != b.shape:
        return False
    if np.array_equal(a, b):
        return True
    with np.errstate(invalid="ignore"):
        return bool(((a == b) | (np.abs(a - b) <= room * (1.0 + np.abs(a)))).all())
