"""Families of columns and priors together: labelled rows to statistics, and those to a model."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.errors import BadRows, ForgettingUnseen
from suffice.linear_algebra import log_sum_exp
from suffice.models.gaussian.forgetting import forgotten
from suffice.models.gaussian.learner import log_frequencies, log_priors_of
from suffice.models.naive_bayes.column_blocks import Blocks
from suffice.models.naive_bayes.model import NaiveBayesModel
from suffice.models.naive_bayes.product import Product
from suffice.models.naive_bayes.smoothing import HELD_OUT, LEFT_OUT
from suffice.statistics import ByClass
from suffice.statistics.folds import FOLDS, Folds
from suffice.statistics.row_sample import WithRows

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from suffice.models.notes import Note
    from suffice.rows import FloatArray, IntArray, Label
    from suffice.statistics.row_sample import RowSample


@dataclass(frozen=True, eq=False)
class NaiveBayesFit:
    """A model, the statistics it was estimated from in the order of its labels, and settings found.

    `groups` holds, for each group of columns, the statistics of every class; `alphas` the
    smoothing of each group.
    """

    model: NaiveBayesModel
    groups: list[list[Any]]
    alphas: tuple[float, ...]
    notes: tuple[Note, ...]


@dataclass(frozen=True, slots=True)
class NaiveBayesLearner:
    """Learns a NaiveBayesModel: summarize, then estimate.

    `smoothing` is α ≥ 0 or "held-out": then α maximizes the likelihood of what was left out,
    each row of tallies by itself, words and counts by fold; folds are kept only for these.
    `temperature` is β > 0 or "held-out": then a sample of rows is kept, and β is fitted to
    their leave-one-out scores; "left-out" averages over a grid of β instead, by the same scores.
    None is 1, and "held-out" where there are texts: how far these are believed is always fitted.

    >>> import numpy as np
    >>> from suffice.families import Bernoulli, Product
    >>> from suffice.rows import read_table
    >>> learner = NaiveBayesLearner(Product.of_columns([Bernoulli()]))
    >>> rows = learner.product.read(read_table([[1], [1], [0], [0]]))
    >>> statistics = learner.summarize(rows, np.array([1, 1, 1, 0]), ["ham", "spam"])
    >>> model = learner.fit(statistics).model
    >>> model.laws[0].probabilities[:, 0].round(3).tolist()  # (0 + 1)/(1 + 2), (2 + 1)/(3 + 2)
    [0.333, 0.6]
    """

    product: Product
    priors: Mapping[Label, float] | None = None
    smoothing: float | str = 1.0
    temperature: float | str | None = 1.0

    @property
    def has_texts(self) -> bool:
        """Whether some columns hold texts."""
        return any(family.cells_are_texts for family in self.product.families)

    @property
    def found_temperature(self) -> float | str:
        """What is asked of the temperature, where nobody has said so too."""
        if self.temperature is None:
            return HELD_OUT if self.has_texts else 1.0
        return self.temperature

    @property
    def keeps_folds(self) -> bool:
        """Whether statistics are kept by fold: where α cannot be chosen without."""
        needed = any(family.needs_folds for family in self.product.families)
        return self.smoothing == HELD_OUT and needed

    @property
    def keeps_rows(self) -> bool:
        """Whether a sample of the rows is kept."""
        return self.has_texts or self.found_temperature in (HELD_OUT, LEFT_OUT)

    # Rows -> statistics

    def summarize(
        self,
        rows: Blocks,
        codes: IntArray,
        labels: Sequence[Label],
        weights: FloatArray | None = None,
        names: Sequence[str] | None = None,
    ) -> ByClass[Any] | Folds | WithRows:
        """Summarize labelled rows: row i belongs to labels[codes[i]]; zero weights are no rows."""
        if weights is not None and not weights.all():
            kept = np.flatnonzero(weights > 0.0)
            rows, codes, weights = rows.take(kept), codes[kept], weights[kept]
        if not (self.keeps_folds or self.keeps_rows):
            return self.product.summarize(rows, codes, labels, weights, names)
        hashes = self.product.hashes(rows, codes, labels)
        held: ByClass[Any] | Folds
        if self.keeps_folds:
            held = self._folds(rows, codes, labels, weights, names, hashes)
        else:
            held = self.product.summarize(rows, codes, labels, weights, names)
        if not self.keeps_rows:
            return held
        from suffice.models.naive_bayes.row_samples import sampled

        return WithRows(held, sampled(self.product, rows, codes, labels, weights, hashes))

    def _folds(
        self,
        rows: Blocks,
        codes: IntArray,
        labels: Sequence[Label],
        weights: FloatArray | None,
        names: Sequence[str] | None,
        hashes: Any,
    ) -> Folds:
        """Return statistics by fold: a class of a fold is summarized like a class of its own."""
        fold = (hashes % np.uint64(FOLDS)).astype(np.intp)
        pairs = [(f, label) for f in range(FOLDS) for label in labels]
        found = self.product.summarize(rows, fold * len(labels) + codes, pairs, weights, names)
        held = found.groups
        return Folds(
            tuple(
                ByClass({label: held[f, label] for label in labels if (f, label) in held})
                for f in range(FOLDS)
            )
        )

    def forget(self, held: object, gone: Any, names: Sequence[str]) -> Any:
        """Return held - gone, and be honest about the digits that are left."""
        order = [j for group in self.product.columns for j in group]
        try:
            left = forgotten(held, gone, [names[j] for j in order])
        except ForgettingUnseen as refusal:
            if refusal.part is None:
                raise
            own = self.product.columns[refusal.part]
            raise refusal.filled([names[j] for j in own]) from None
        self._refuse_impossible(left, gone.labels)
        return left

    def _refuse_impossible(self, left: Any, labels: Sequence[Label]) -> None:
        """Refuse what no rows can be summarized by in a family, of these classes."""
        held = left.held if isinstance(left, WithRows) else left
        groups = (held.whole if isinstance(held, Folds) else held).groups
        for label in labels:
            if label not in groups:
                continue
            for part, family in zip(groups[label].parts, self.product.families, strict=True):
                if why := family.statistics_flaw(part):
                    raise ForgettingUnseen(
                        f"forgetting would leave class {label!r} with {family.name} columns that "
                        f"{why}",
                        hint="only rows that were learned before can be removed",
                    )

    # Statistics -> model

    def fit(self, statistics: Any) -> NaiveBayesFit:
        """Estimate, and keep the statistics that leave-one-out needs."""
        labels = statistics.labels
        if not labels:
            raise BadRows("there are no rows to learn from", hint="every row has weight zero")
        held = statistics.held if isinstance(statistics, WithRows) else statistics
        whole = held.whole if isinstance(held, Folds) else held
        groups = self.product.groups(whole, labels)
        alphas = self._alphas(held, groups, labels)
        laws, notes = self.product.estimate(groups, alphas)
        weights = np.array([whole.groups[label].weight for label in labels])
        log_priors = log_frequencies(weights)
        if not all(family.is_density for family in self.product.families):
            log_priors = np.zeros(len(labels))  # no density, so nothing for priors to multiply
        elif self.priors is not None:
            log_priors = log_priors_of(self.priors, labels)
        blank = self.product.blank(groups)
        model = NaiveBayesModel(labels, log_priors, laws, self.product, weights, blank=blank)
        fit = NaiveBayesFit(model, groups, alphas, notes)
        return replace(fit, model=self._tempered(statistics, fit))

    def _alphas(
        self, held: object, groups: list[list[object]], labels: Sequence[Label]
    ) -> tuple[float, ...]:
        """Return the smoothing of every group: given, or the best for what is held out."""
        if self.smoothing != HELD_OUT:
            return (float(self.smoothing),) * len(self.product.families)
        alphas = []
        for g, family in enumerate(self.product.families):
            folds = [groups[g]]
            if isinstance(held, Folds):
                empty = self.product.empty_like(groups[g][0])
                folds = [
                    [part.groups[v].parts[g] if v in part.groups else empty for v in labels]
                    for part in held.parts
                ]
            best = family.smoothing(folds)
            alphas.append(1.0 if best is None else best)
        return tuple(alphas)

    def _tempered(self, statistics: Any, fit: NaiveBayesFit) -> NaiveBayesModel:
        """Return the model at its temperature: given, or by rows as if they had never been seen."""
        asked = self.found_temperature
        if not self.keeps_rows:
            return replace(fit.model, temperature=float(asked))
        if not statistics.sample.rows or len(fit.model.labels) < 2:
            return fit.model if isinstance(asked, str) else replace(fit.model, temperature=asked)
        if self.has_texts:
            fit = replace(fit, model=self._with_texts(statistics.sample, fit))
            if asked != LEFT_OUT:
                return fit.model
        scores, priors, codes, weights = self._left_out(statistics.sample, fit)
        if asked == HELD_OUT:
            beta = fitted_temperature(scores, priors, codes, weights)
            return replace(fit.model, temperature=beta)
        from suffice.models.gaussian.averages.shares import (  # who averages nothing needs it not
            LeftOutScores,
            fitted_shares,
            temperatures_of,
        )

        every = np.ones(len(codes), dtype=bool)
        judged = LeftOutScores((scores,), priors, codes, weights, every)
        temperatures = temperatures_of(LEFT_OUT, fit.model.weights)
        shares = fitted_shares(judged, temperatures)[0]
        used = shares > 0.0
        mean = float(shares @ temperatures)
        return replace(
            fit.model, temperature=mean, temperatures=temperatures[used], shares=shares[used]
        )

    def _with_texts(self, sample: RowSample, fit: NaiveBayesFit) -> NaiveBayesModel:
        """Return the model whose texts are smoothed and believed as sampled rows say."""
        from suffice.models.naive_bayes.leave_one_out import (
            left_out_priors,
            left_out_scores,
            possible_scores,
        )
        from suffice.models.naive_bayes.text_weights import JudgedTexts  # others need it not

        model = fit.model
        rows, codes, weights = self._sampled(sample, fit)
        one = np.minimum(weights, 1.0)
        given = None if self.priors is None else model.log_priors
        priors, vanished = left_out_priors(model.weights, codes, one, given)
        families = self.product.families
        others = [g for g, family in enumerate(families) if not family.cells_are_texts]
        kept = ~vanished
        columns: FloatArray | None = None
        if others:
            product = Product(
                tuple(families[g] for g in others), tuple(self.product.columns[g] for g in others)
            )
            found = left_out_scores(
                product,
                [fit.groups[g] for g in others],
                [fit.alphas[g] for g in others],
                Blocks(tuple(rows.parts[g] for g in others)),
                codes,
                one,
                complete=False,
            )
            scores = possible_scores(found)
            # What is impossible for any class says the same at every temperature.
            kept &= np.isfinite(scores).all(axis=1)
            columns = scores
        kept &= np.isfinite(priors).all(axis=1)
        if not kept.any():
            return model
        some = np.flatnonzero(kept)
        asked = self.found_temperature
        judged = JudgedTexts(
            model.laws, rows.take(some), priors[some], codes[some], weights[some], one[some],
            None if columns is None else columns[some],
            None if isinstance(asked, str) else float(asked),
        )  # fmt: skip
        laws, beta = judged.weighed()
        return replace(model, laws=laws, temperature=beta)

    def _sampled(
        self, sample: RowSample, fit: NaiveBayesFit
    ) -> tuple[Blocks, IntArray, FloatArray]:
        """Return sampled rows, their classes and their weights."""
        from suffice.models.naive_bayes.row_samples import blocks_of

        known = {label: c for c, label in enumerate(fit.model.labels)}
        held = list(sample.rows.values())
        if self.has_texts or self.found_temperature == LEFT_OUT:
            # Sums in one order, whoever was merged first.
            held = [sample.rows[h] for h in sorted(sample.rows)]
        rows = blocks_of(held, self.product, fit.groups)
        codes = np.array([known[row.label] for row in held], dtype=np.intp)
        return rows, codes, np.array([row.weight for row in held])

    def _left_out(
        self, sample: RowSample, fit: NaiveBayesFit
    ) -> tuple[FloatArray, FloatArray, IntArray, FloatArray]:
        """Return scores, log priors, classes and weights of sampled rows, each left out."""
        from suffice.models.naive_bayes.leave_one_out import (
            left_out_priors,
            left_out_scores,
            possible_scores,
        )

        rows, codes, weights = self._sampled(sample, fit)
        given = None if self.priors is None else fit.model.log_priors
        # Rows that say the same are one here, and are still left out one at a time.
        one = np.minimum(weights, 1.0)
        found = left_out_scores(
            self.product, fit.groups, fit.alphas, rows, codes, one, complete=False,
            laws=fit.model.laws,
        )  # fmt: skip
        priors, vanished = left_out_priors(fit.model.weights, codes, one, given)
        return (
            possible_scores(found)[~vanished],
            priors[~vanished],
            codes[~vanished],
            weights[~vanished],
        )


MOST_HALVINGS = 200
"""Halvings, at most: 39 bring the interval from 40 to 1e-10, and the rest are never made."""


def fitted_temperature(
    scores: FloatArray, log_priors: FloatArray, codes: IntArray, weights: FloatArray
) -> float:
    """Return β that minimizes Σw[logsumexp_c(log π_c + βs_c) - (log π_y + βs_y)] + ½(log β)².

    `scores` are log p(x | c) of rows that the model has not seen. The sum is convex in β; the
    last term keeps β finite when every row is right. Found by bisection on the derivative,
    which cannot fail. Scores that are infinitely far apart say the same at every β and are
    left out.
    """
    with np.errstate(invalid="ignore"):
        s = scores - scores.max(axis=1, keepdims=True)
    kept = np.isfinite(s).all(axis=1)
    if not kept.any():
        return 1.0
    s, y, w = s[kept], codes[kept], weights[kept]
    priors = np.broadcast_to(log_priors, scores.shape)[kept]
    own = s[np.arange(len(y)), y]

    def slope(log_beta: float) -> float:
        """Return the derivative by log β."""
        beta = np.exp(log_beta)
        joint = priors + beta * s
        p = np.exp(joint - log_sum_exp(joint)[:, np.newaxis])
        return float(beta * (w @ ((p * s).sum(axis=1) - own)) + log_beta)

    low, high = -20.0, 20.0
    for _ in range(MOST_HALVINGS):
        middle = (low + high) / 2.0
        if slope(middle) > 0.0:
            high = middle
        else:
            low = middle
        if high - low < 1e-10:
            break
    return float(np.exp((low + high) / 2.0))
