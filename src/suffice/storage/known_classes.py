"""What a model file may hold: these classes and no others, found only when they are needed."""

from __future__ import annotations

from importlib import import_module
from typing import Any

STATISTICS = {
    "ByClass": "suffice.statistics.by_class",
    "ByColumn": "suffice.statistics.by_column",
    "ByPattern": "suffice.statistics.by_pattern",
    "ColumnNgrams": "suffice.statistics.column_terms",
    "ColumnTerms": "suffice.statistics.column_terms",
    "DiagonalMoments": "suffice.statistics.moments.diagonal",
    "Folds": "suffice.statistics.folds",
    "Moments": "suffice.statistics.moments.full",
    "NgramCounts": "suffice.statistics.keyed_counts",
    "PooledMoments": "suffice.statistics.moments.pooled",
    "RowSample": "suffice.statistics.row_sample",
    "Tallies": "suffice.statistics.tallies",
    "TermCounts": "suffice.statistics.keyed_counts",
    "TextStatistics": "suffice.statistics.text_statistics",
    "Totals": "suffice.statistics.totals",
    "WithRows": "suffice.statistics.row_sample",
}
"""Statistics, which know how to become arrays, and to come back."""

DATACLASSES = {
    "AveragedForm": "suffice.models.linear.averaged_form",
    "AveragedLaws": "suffice.models.gaussian.predictive.averaged_laws",
    "Bernoulli": "suffice.models.naive_bayes.families.bernoulli",
    "BernoulliColumns": "suffice.models.naive_bayes.families.bernoulli",
    "Binned": "suffice.models.naive_bayes.families.binned",
    "BinnedColumns": "suffice.models.naive_bayes.families.binned",
    "Categorical": "suffice.models.naive_bayes.families.categorical",
    "CategoricalColumns": "suffice.models.naive_bayes.families.categorical",
    "ClassMixtures": "suffice.models.mixture.record",
    "ClassStream": "suffice.models.mixture.streams.class_streams",
    "ClassStreams": "suffice.models.mixture.streams.class_streams",
    "Columns": "suffice.columns.schema",
    "Common": "suffice.models.naive_bayes.families.same_in_all_classes",
    "CommonColumns": "suffice.models.naive_bayes.families.same_in_all_classes",
    "Complement": "suffice.models.naive_bayes.families.complement",
    "ComplementForm": "suffice.models.naive_bayes.families.complement",
    "Design": "suffice.columns.design",
    "DiagonalNormals": "suffice.models.gaussian.diagonal_normals",
    "DiagonalStudents": "suffice.models.gaussian.predictive.diagonal_students",
    "Evidence": "suffice.models.gaussian.normal_fit",
    "FactorNormals": "suffice.models.gaussian.factors.normals",
    "FullNormals": "suffice.models.gaussian.full_normals",
    "FullStudents": "suffice.models.gaussian.predictive.full_students",
    "Gaussian": "suffice.models.gaussian.family",
    "GaussianColumns": "suffice.models.naive_bayes.families.gaussian",
    "GenerativeModel": "suffice.models.gaussian.model",
    "Language": "suffice.models.text.language",
    "LinearForm": "suffice.models.linear.form",
    "LogNormal": "suffice.models.naive_bayes.families.lognormal",
    "LogNormalColumns": "suffice.models.naive_bayes.families.lognormal",
    "LogisticFit": "suffice.models.linear.logistic.result",
    "MixtureLaws": "suffice.models.mixture.laws",
    "LatentRecord": "suffice.models.latent.record",
    "MixtureRecord": "suffice.models.mixture.record",
    "MixtureStream": "suffice.models.mixture.stepwise",
    "Multinomial": "suffice.models.naive_bayes.families.multinomial",
    "MultinomialCounts": "suffice.models.naive_bayes.families.multinomial",
    "NaiveBayesModel": "suffice.models.naive_bayes.model",
    "Normal": "suffice.models.gaussian.law.normal",
    "NormalColumns": "suffice.models.naive_bayes.families.gaussian",
    "OnlinePerceptron": "suffice.models.linear.online.perceptron",
    "PenaltyPath": "suffice.models.linear.penalty_path.path",
    "PerceptronFit": "suffice.models.linear.online.perceptron",
    "PlainColumns": "suffice.columns.schema",
    "Poisson": "suffice.models.naive_bayes.families.poisson",
    "PoissonColumns": "suffice.models.naive_bayes.families.poisson",
    "PoolModel": "suffice.models.pool.model",
    "PredictiveGaussian": "suffice.models.naive_bayes.families.predictive_gaussian",
    "Product": "suffice.models.naive_bayes.product",
    "SeenRows": "suffice.models.linear.online.seen_rows",
    "Separation": "suffice.models.linear.logistic.separation.separation",
    "Spread": "suffice.models.gaussian.law.factored_covariance",
    "Stochastic": "suffice.models.linear.online.stochastic",
    "StreamFrame": "suffice.models.mixture.streams.frame",
    "StudentColumns": "suffice.models.naive_bayes.families.predictive_gaussian",
    "Terms": "suffice.models.text.terms",
    "TextByteColumns": "suffice.models.naive_bayes.families.texts.bytes",
    "TextBytes": "suffice.models.naive_bayes.families.texts.bytes",
    "TextRecord": "suffice.models.text.learner",
    "TextWordColumns": "suffice.models.naive_bayes.families.texts.words",
    "TextWords": "suffice.models.naive_bayes.families.texts.words",
    "TextsBeside": "suffice.models.pool.texts",
    "Tokens": "suffice.models.text.tokens",
}
"""Everything else, by its fields."""


def class_named(name: str) -> Any:
    """Return a class that a file may hold.

    >>> class_named("Gaussian")("shared").covariance
    'shared'
    """
    home = STATISTICS.get(name) or DATACLASSES.get(name)
    return _registered()[name] if home is None else getattr(import_module(home), name)


def has_fields(name: str) -> bool:
    """Whether a name is that of a class that is kept by its fields: ours, or registered."""
    return name in DATACLASSES or name in _registered()


def name_of(value: object) -> str:
    """Return the name of an object's class, if it is a known one; else nothing.

    >>> name_of(object())
    ''
    """
    kind = type(value)
    name, home = kind.__name__, kind.__module__
    known = STATISTICS.get(name) or DATACLASSES.get(name)
    if known == home:
        return name
    if known is not None or home in ("builtins", "numpy"):
        return ""
    return name if _registered().get(name) is kind else ""


def _registered() -> dict[str, type]:
    """Return classes of families that came later; none where nobody can have registered one."""
    from suffice.models.naive_bayes.registered_families import CLASSES

    return CLASSES
