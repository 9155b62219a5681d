"""GaussianMixture: normal components that nobody has named, by scikit-learn's conventions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from sklearn.base import BaseEstimator, DensityMixin

from suffice.columns.schema import first_names
from suffice.errors import BadSetting
from suffice.estimators.fitting_notes import NotFitted
from suffice.estimators.mixtures.learning import MixtureLearning
from suffice.learning.stored import saving
from suffice.learning.table_recipe import STATE, TableNotes
from suffice.models.mixture.record import MixtureRecord
from suffice.storage.model_file import StoredModel, write_model

if TYPE_CHECKING:
    from pathlib import Path

    from suffice.columns import Columns
    from suffice.estimators.setting_types import Criterion
    from suffice.models.mixture.fitting import MixtureFit
    from suffice.rows import FloatArray, IntArray


class GaussianMixture(MixtureLearning, DensityMixin, BaseEstimator):
    """Rows of several normal components, and which is whose is hidden: clusters, and a density.

    EM never loses likelihood. Cells that are missing (NaN) are integrated out, in every step and in
    every answer; a weight of 2 is two rows. `bic`, `aic` and `icl` are smaller where a mixture is
    better, as in scikit-learn (mclust has the other sign).

    Parameters
    ----------
    components : int, sequence of int, or "auto", default "auto"
        How many: a number, several to choose from, or "auto" (1 … 9).
    covariance : str or sequence of str, default "auto"
        One of mclust's fourteen forms, "EII" … "VVV", or our word for it ("shared", "per-class",
        …), several of them, or "auto": all.
    noise : bool or float, default False
        True adds a component that is everywhere alike, over the box around all rows; a number is
        the volume it is spread over.
    start : array-like, optional
        A class for each row (n,), or responsibilities (n, k), to begin with; None: agglomeration
        and k-means, on a sample.
    criterion : {"bic", "icl"}, default "bic"
        What number and form are chosen by: "bic" or "icl".
    prior : bool, default False
        True: Fraley and Raftery's (2007), which keeps components from collapsing; without, it steps
        in where one does, and that is said.
    tol : float, default 1e-08
        EM ends when less than that is still to be gained, a row (Aitken).
    max_iter : int, default 1000
        Steps of EM, at most.
    random_state : int or Generator, optional
        Seed of k-means++; the same rows give the same mixture anyway.
    factors : int or "auto", optional
        Covariances explained by so many common factors and a variance of each column's own, for
        many columns: of each component its own ("per-class"), one for all ("shared"), or the
        better of both ("auto"). "auto" factors: 0 to 4, by BIC.

    See Also
    --------
    MixtureDiscriminant : The same where classes are known.
    LatentClasses : For columns of every kind.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X = load_iris().data
    >>> model = GaussianMixture(components=range(1, 4), covariance=["VEV", "VVV"]).fit(X)
    >>> model.components_, model.covariance_form_, round(model.bic(X), 1)
    (2, 'VEV', 561.7)
    >>> model.predict(X[[0, 60, 120]])
    array([1, 0, 0])
    """

    _fit: MixtureFit | None = None
    _columns: Columns | None = None
    _notes: TableNotes | None = None
    """How the table is read that it was learned from, where a command knows; `fit` forgets it."""

    def __init__(
        self,
        components: object = "auto",
        covariance: object = "auto",
        *,
        noise: bool | float = False,
        start: object = None,
        criterion: Criterion = "bic",
        prior: bool = False,
        tol: float = 1e-8,
        max_iter: int = 1000,
        random_state: object = None,
        factors: int | Literal["auto"] | None = None,
    ) -> None:
        self.components = components
        self.covariance = covariance
        self.noise = noise
        self.start = start
        self.criterion = criterion
        self.prior = prior
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.factors = factors

    def _become(self, fit: MixtureFit | None, columns: Columns) -> Self:
        self._fit, self._columns = fit, columns
        self.n_features_in_ = columns.width
        if columns.named:
            self.feature_names_in_ = np.array(columns.names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        return self

    def fit_predict(self, X: object, y: object = None, **kwargs: Any) -> IntArray:
        """Learn, and return the component of each row."""
        return self.fit(X, y, **kwargs).predict(X)

    def _require(self) -> tuple[MixtureFit, Columns]:
        fit, columns, stream = self._fit, self._columns, self._stream
        if columns is None or (fit is None and stream is None):
            raise NotFitted.of(self)
        if fit is None:  # a stream that has not begun: it is the fit to all its rows
            assert stream is not None
            fit = self._fit = self._started(stream, len(stream.weights))
        return fit, columns

    def __sklearn_is_fitted__(self) -> bool:
        """Whether there is anything to ask it."""
        return self._fit is not None or self._stream is not None

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that missing cells are legal."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    # On disk

    def save(self, path: str | Path) -> None:
        """Write the mixture to a file, whole or not at all; `suffice.load` reads it.

        >>> import tempfile, suffice
        >>> place = tempfile.mkdtemp() + "/mixture.suffice"
        >>> model = GaussianMixture(2, "EEE").fit([[0.0], [0.2], [0.5], [5.0], [5.2], [5.3]])
        >>> model.save(place)
        >>> suffice.load(place).predict([[0.1], [6.0]])
        array([0, 1])
        """
        with saving(path):
            write_model(path, self.stored())

    def stored(self, *, statistics: bool = True) -> StoredModel:
        """Return what a file holds of it; without statistics, a stream does not go on."""
        fit, columns = self._require()
        settings = {
            name: value
            for name, value in self.get_params(deep=False).items()
            if name not in ("start", "random_state", "factors") and not isinstance(value, range)
        }
        if isinstance(self.random_state, int):  # a stream of numbers is nothing to keep
            settings["random_state"] = self.random_state
        if self.factors is not None:
            settings["factors"] = self.factors
        for name in ("components", "covariance"):
            value = getattr(self, name)
            if not isinstance(value, str | int | np.integer):
                settings[name] = {"components": self.components_, "covariance": fit.form}[name]
        state: dict[str, object] = {
            "columns": columns,
            "statistics": None,
            "chosen": None,
            "labels": np.dtype(np.int64).str,
            "model": fit.model,
            "mixture": MixtureRecord.of(fit),
        }
        about: dict[str, object] = {"model": type(self).__name__, "columns": first_names(columns)}
        if statistics and self._stream is not None:
            state["stream"] = self._stream
        if self._notes is not None:
            state[STATE] = self._notes.to_dict()
        return StoredModel(type(self).__name__, settings, state, about)

    def take_notes(self, notes: TableNotes | None) -> None:
        """Know how the table is read that it was learned from."""
        self._notes = notes

    @classmethod
    def of_stored(cls, stored: StoredModel) -> Self:
        """Return the mixture that a file holds."""
        model = cls(**stored.settings)
        record = stored.state["mixture"]
        if not isinstance(record, MixtureRecord):
            raise BadSetting("the file has no mixture", hint="it is damaged: write it again")
        model._become(record.fit(stored.state["model"]), stored.state["columns"])
        model._stream = stored.state.get("stream")
        model._notes = TableNotes.from_state(stored.state)
        return model

    # What was learned

    @property
    def schema(self) -> Columns:
        """The columns that it was fitted to."""
        return self._require()[1]

    @property
    def components_(self) -> int:
        """How many components there are, without the noise."""
        return int(self._require()[0].model.densities.size)

    @property
    def covariance_form_(self) -> str:
        """The form of their covariances, in mclust's three letters."""
        return self._require()[0].form

    @property
    def weights_(self) -> FloatArray:
        """The share of each component, largest first (k,); that of noise last, where there is."""
        fit, _ = self._require()
        shares = np.exp(fit.model.log_priors)
        return np.append(shares * (1.0 - fit.noise), fit.noise) if fit.noise > 0.0 else shares

    @property
    def means_(self) -> FloatArray:
        """The mean of each component (k, d)."""
        return self._require()[0].model.densities.class_means

    @property
    def covariances_(self) -> FloatArray:
        """The covariance of each component (k, d, d), repeated where they are shared."""
        found = self._require()[0].model.densities.covariances
        return np.broadcast_to(found, (self.components_, *found.shape[1:])).copy()

    @property
    def converged_(self) -> bool:
        """Whether EM came to its end within `max_iter` steps."""
        return self._require()[0].converged

    @property
    def n_iter_(self) -> int:
        """How many steps EM took over all rows."""
        return max(1, len(self._require()[0].history))

    @property
    def history_(self) -> FloatArray:
        """The log-likelihood at every step, and the log prior where there is one: never falling."""
        return np.array(self._require()[0].history)

    @property
    def log_likelihood_(self) -> float:
        """The log-likelihood of the rows that it was fitted to; of a stream, as it ran."""
        fit, _ = self._require()
        if not fit.history:
            raise BadSetting(
                "this mixture was made from others and not fitted: it has no log-likelihood of "
                "training rows",
                hint="score_samples(rows).sum() gives that of any rows",
            )
        return fit.log_likelihood

    @property
    def n_parameters_(self) -> int:
        """How many free numbers it has: what BIC and AIC count."""
        return self._require()[0].parameters

    @property
    def trials_(self) -> list[dict[str, Any]]:
        """What was tried: form, components, log-likelihood, parameters and criterion, best first.

        NaN where a component collapsed, and the likelihood has no maximum.
        """
        found = [trial._asdict() for trial in self._require()[0].trials]
        return sorted(
            found, key=lambda one: (np.isnan(one["criterion"]), one["criterion"], one["components"])
        )
