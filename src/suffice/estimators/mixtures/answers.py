"""What a mixture says about rows; nothing here learns anything."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import gammaincc

from suffice.columns.shown import shown_within
from suffice.errors import BadSetting
from suffice.estimators.multivariate_normal_columns import (
    check_infinite,
    given_values,
    part,
    place,
    places,
)
from suffice.learning.answers import comparison
from suffice.learning.randomness import random_generator
from suffice.learning.results import Explanation
from suffice.linear_algebra import normalized
from suffice.models.gaussian.explanation import explain
from suffice.models.gaussian.missing.e_step import imputed
from suffice.models.gaussian.normal_fit import predictive_p_values
from suffice.models.mixture.law import log_density, log_joint
from suffice.models.mixture.parts import conditional_fit, marginal_fit
from suffice.models.possible.normal_rows import PossibleNormals
from suffice.rows import read_table, read_weights

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from suffice.columns import Columns
    from suffice.learning.table_recipe import TableNotes
    from suffice.models.mixture.fitting import MixtureFit
    from suffice.rows import FloatArray, IntArray

NOISE = -1
"""The component of rows that belong to none: the noise."""


class MixtureAnswers:
    """Clusters, densities, cells and draws."""

    if TYPE_CHECKING:

        def _require(self) -> tuple[MixtureFit, Columns]: ...

        def _become(self, fit: MixtureFit, columns: Columns) -> Any: ...

        get_params: Any
        _notes: TableNotes | None

    def _rows(self, X: object) -> FloatArray:
        columns = self._require()[1]
        table = read_table(X)
        if self._notes is not None:
            table = self._notes.rows(table)
        cells = columns.encode(table, type(self).__name__)
        check_infinite(cells, places(columns))
        return np.asarray(cells, dtype=np.float64)

    def _log_posterior(self, rows: FloatArray) -> FloatArray:
        """Return log p(component | row), noise last; far rows are judged with care."""
        fit, _ = self._require()
        if fit.noise == 0.0:
            return fit.model.posterior(rows, log=True)
        return normalized(log_joint(fit.model, fit.noise, fit.log_volume, rows))

    # Clusters

    def predict(self, X: object) -> IntArray:
        """Return the likeliest component of each row (n,), -1 for the noise."""
        fit, _ = self._require()
        rows = self._rows(X)
        if fit.noise == 0.0:
            return fit.model.codes(rows)
        found = self._log_posterior(rows).argmax(axis=1)
        return np.where(found == fit.model.densities.size, NOISE, found)

    def predict_proba(self, X: object) -> FloatArray:
        """Return p(component | row) (n, k), and that of noise in a last column where there is."""
        fit, _ = self._require()
        rows = self._rows(X)
        if fit.noise == 0.0:  # to the last bit what a file answers
            return fit.model.posterior(rows)
        return np.exp(self._log_posterior(rows))

    def uncertainty(self, X: object) -> FloatArray:
        """Return 1 - max p(component | row) of each row: 0 where a row is surely of one."""
        logs = self._log_posterior(self._rows(X))
        best = logs.argmax(axis=1)
        others = np.exp(logs)
        others[np.arange(len(others)), best] = 0.0  # 1 - p would lose the digits of small ones
        return np.asarray(others.sum(axis=1))

    # Densities

    def score_samples(self, X: object) -> FloatArray:
        """Return log p(x) of every row; 0 for a row without any cell."""
        fit, _ = self._require()
        return log_density(fit.model, fit.noise, fit.log_volume, self._rows(X))

    def score(self, X: object, y: object = None, sample_weight: object = None) -> float:  # noqa: ARG002
        """Return the mean of log p(x), by weight."""
        found = self.score_samples(X)
        weights = read_weights(sample_weight, len(found))
        return float(np.average(found, weights=weights))

    def _criterion(self, X: object, sample_weight: object, per_parameter: float | None) -> float:
        fit, _ = self._require()
        if not fit.parameters:
            raise BadSetting(
                "a marginal or conditional mixture was not fitted itself: its parameters are not "
                "counted",
                hint="ask the mixture that it was made from",
            )
        rows = self._rows(X)
        there = ~np.isnan(rows).all(axis=1)
        weights = read_weights(sample_weight, len(rows))
        held = there.astype(np.float64) if weights is None else np.where(there, weights, 0.0)
        logs = log_density(fit.model, fit.noise, fit.log_volume, rows)
        cost = float(np.log(held.sum())) if per_parameter is None else per_parameter
        return float(-2.0 * (held @ np.where(there, logs, 0.0)) + fit.parameters * cost)

    def bic(self, X: object, sample_weight: object = None) -> float:
        """Return -2 log-likelihood + parameters·log n: less is better; n is of rows with a cell."""
        return self._criterion(X, sample_weight, None)

    def aic(self, X: object, sample_weight: object = None) -> float:
        """Return -2 log-likelihood + 2·parameters: less is better."""
        return self._criterion(X, sample_weight, 2.0)

    def icl(self, X: object, sample_weight: object = None) -> float:
        """Return BIC - 2Σ log max p(component | row): less is better, and overlap costs."""
        logs = self._log_posterior(self._rows(X)).max(axis=1)
        weights = read_weights(sample_weight, len(logs))
        sure = float(logs.sum() if weights is None else logs @ weights)
        return self.bic(X, sample_weight) - 2.0 * sure

    def typicality(self, X: object) -> FloatArray:
        """Return, per component, how probable it is that a row of it lies as far out (n, k).

        Small everywhere: the row belongs to none of them. Approximate: the rows of a component
        are not known, and taken to be as many as its share says; with too few for its columns, χ².
        """
        fit, _ = self._require()
        rows = self._rows(X)
        held = fit.model.weights
        law: Any = fit.model.densities
        distances, ranks = law.squared_distances(rows)
        d = ranks[:, np.newaxis]
        with np.errstate(all="ignore"):
            exact = predictive_p_values(distances / held, d, held - 1.0, 1.0 / held)
            rough = gammaincc(d / 2.0, distances / 2.0)
        found = np.where((held - d <= 0.0) | ~np.isfinite(exact), rough, exact)
        return np.asarray(np.where(d == 0, 1.0, found))

    # Draws and cells

    def sample(
        self,
        n_samples: int = 1,
        random_state: object = None,
        *,
        component: int | None = None,
        within: object = "auto",
    ) -> tuple[FloatArray, IntArray]:
        """Return rows drawn from the components, or from one, and which each is from.

        Noise has no law outside of the rows that it was spread over: none is drawn. `within` keeps
        numbers to what columns have shown: "auto" where the model knows it, as those of
        `suffice cluster` do; rows say what theirs show; None draws from the law as it is.
        """
        count: object = n_samples
        if isinstance(count, bool) or not isinstance(count, int | np.integer) or count < 1:
            raise BadSetting(
                f"n_samples={count!r} is not a number of rows",
                hint="use a whole number of at least 1",
            )
        fit, columns = self._require()
        if component is not None and component not in fit.model.labels:
            raise BadSetting(
                f"component={component!r} does not exist",
                hint=f"they are numbered from 0 to {fit.model.densities.size - 1}",
            )
        shown = shown_within(
            within,
            None if self._notes is None else self._notes.shown,
            lambda: columns.matched(read_table(within), type(self).__name__),
        )
        rows, codes = fit.model.sample(int(count), random_generator(random_state), component)
        if shown is not None:
            rows = PossibleNormals.of(fit.model.densities, columns, shown).rows(rows, codes)
        return rows, codes

    def impute(self, X: object, draws: int | None = None, random_state: object = None) -> Any:
        """Return rows with missing cells as expected; with `draws`, that many tables drawn."""
        fit, _ = self._require()
        rows = self._rows(X)
        if draws is None:
            return imputed(fit.model, rows)
        if isinstance(draws, bool) or int(draws) != draws or draws < 0:
            raise BadSetting(
                f"cannot make draws={draws!r} tables", hint="use a whole number, or None"
            )
        rng = random_generator(random_state)
        return [imputed(fit.model, rows, None, rng) for _ in range(int(draws))]

    # Parts

    def marginal(self, columns: Sequence[str | int] | str | int) -> Any:
        """Return the mixture of some columns, by name or position, in their order."""
        fit, known = self._require()
        alone = isinstance(columns, str | int | np.integer)
        asked: list[object] = [columns] if alone else list(columns)  # type: ignore[arg-type]
        chosen = sorted({place(known, one) for one in asked})
        return self._like(marginal_fit(fit, chosen, known.width), part(known, chosen))

    def conditional(self, given: Mapping[object, float]) -> Any:
        """Return the mixture of the other columns when some are known, by name or position.

        >>> from suffice import GaussianMixture
        >>> rows = [[0, 0], [1, 1], [0, 1], [1, 0], [8, 5], [9, 6], [8, 6], [9, 5]]
        >>> model = GaussianMixture(2, "EEE").fit(rows)
        >>> model.conditional({0: 8.5}).means_[model.conditional({0: 8.5}).weights_ > 0.5]
        array([[5.5]])
        """
        fit, known = self._require()
        values = given_values(known, given)
        if not values:
            return self
        others = [j for j in range(known.width) if j not in values]
        return self._like(conditional_fit(fit, values, known.width), part(known, others))

    def _like(self, fit: MixtureFit, columns: Columns) -> Any:
        return type(self)(**self.get_params(deep=False))._become(fit, columns)

    # What sets components apart

    @property
    def profiles_(self) -> FloatArray:
        """How far each component's mean is from that of all, in standard deviations (k, d)."""
        fit, _ = self._require()
        law, shares = fit.model.densities, np.exp(fit.model.log_priors)
        means = law.class_means
        spread = np.broadcast_to(np.diagonal(law.covariances, axis1=1, axis2=2), means.shape)
        centre = shares @ means
        total = np.sqrt(shares @ (spread + np.square(means - centre)))
        return np.asarray((means - centre) / np.where(total > 0.0, total, 1.0))

    def explain(self, X: object, of: int | None = None, against: int | None = None) -> Explanation:
        """Split the log odds of two components of every row by column; noise plays no part.

        By default the likeliest is compared with the second; `of` and `against` name others.
        """
        fit, columns = self._require()
        pair = comparison(fit.model.labels, of, against)
        rows = self._rows(X)
        found = explain(fit.model, rows, *pair(fit.model.posterior(rows, log=True)))
        names = np.arange(fit.model.densities.size)
        return Explanation(
            names[found.of],
            names[found.against],
            found.baseline,
            found.contributions,
            found.pairs,
            columns.names,
        )
