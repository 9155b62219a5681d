"""The models that are compared: what they are called, and which school they are of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from suffice.errors import BadSetting, listed, meant
from suffice.learning.learner import Learner
from suffice.learning.stored import learner_named
from suffice.models.pool.text_readings import BYTES, WORDS, tries_bytes
from suffice.printing.model_names import usual_name
from suffice.rows import BOOLEAN, CATEGORY, NUMBER, is_sparse, read_table
from suffice.statistics.row_sample import MOST

if TYPE_CHECKING:
    from collections.abc import Iterable

    from suffice.evaluation.labelled_rows import LabelledRows
    from suffice.rows import Table

GENERATIVE, DISCRIMINATIVE = "generative", "discriminative"
POOL = "pool"
"""The key of the usual candidate that is many models, and no single one."""
SINGLE = "single"
"""All usual candidates but the pool, where a name of a candidate may stand."""
FEWEST_POOLED = 10
"""Rows from which on a pool is tried: with fewer, shares of members are found on one row or none
of a class."""
WITH_TEXTS, BY_BYTES = "naive-bayes-text", "naive-bayes-bytes"
"""The keys of the candidates that read columns of texts beside others: by words, and by bytes."""
SLIGHT = 1e-4
"""The penalty of the candidate "logistic": that of C = 1e4.

Where the maximum of the likelihood exists, it changes the fourth digit. Where a plane parts the
classes there is none, and this is as good as none and yet finite.
"""


@dataclass(frozen=True, slots=True, eq=False)
class Candidate:
    """One of the models that are compared.

    Parameters
    ----------
    key : str
        A short name for commands: "gda", "logistic".
    name : str
        What it is called in tables.
    model : object
        A learner, or somebody else's estimator, not fitted.
    school : str
        "generative", "discriminative", or "" for what is of both, or not ours.
    rank : int
        How simple it is: of two that do equally well, the lower one is taken.
    curve : bool, default=False
        Whether its learning curve is drawn.
    without : tuple of str, default=()
        Columns that it does not see: texts, of which it has no law.

    See Also
    --------
    suffice.compare : Compares them.
    """

    key: str
    name: str
    model: Any
    school: str
    rank: int
    curve: bool = False
    without: tuple[str, ...] = ()

    @property
    def estimator(self) -> Any:
        """The model as an estimator, not fitted; fit a clone of it."""
        if not isinstance(self.model, Learner):
            return self.model
        from suffice.estimators.saving import unfitted

        return unfitted(self.model)

    @property
    def is_pool(self) -> bool:
        """Whether it is a pool of models, and no single one."""
        kind = getattr(self.model, "learner_kind", type(self.model))
        return issubclass(kind, Learner) and kind.name == "Pool"


def beside_texts(
    asked: tuple[Candidate, ...], texts: tuple[str, ...], rows: LabelledRows
) -> tuple[Candidate, ...]:
    """Return candidates that do not see columns of texts; naive Bayes and the pool, which do.

    Naive Bayes reads them by words, and once more by bytes where they are short enough for that.
    Of nothing but texts there is no other model.
    """
    if not texts:
        return asked
    table = read_table(rows.X)
    ways = [(WITH_TEXTS, WORDS, "naive Bayes (mixed, with text)")]
    if _are_short(table, texts, len(rows.classes)):
        ways.append((BY_BYTES, BYTES, "naive Bayes (mixed, with text by bytes)"))
    single = tuple(
        Candidate(
            key, name, learner_named("NaiveBayes", families=dict.fromkeys(texts, family)),
            GENERATIVE, len(asked) + place,
        )
        for place, (key, family, name) in enumerate(ways)
    )  # fmt: skip
    if table.width == len(texts):
        return single
    plain = [replace(one, without=texts) for one in asked if one.key != POOL]
    rank = len(asked) + len(single)
    pools = [
        replace(one, model=learner_named("Pool", texts=texts), rank=rank)
        for one in asked
        if one.key == POOL
    ]
    return (*plain, *single, *pools)


def _are_short(table: Table, texts: tuple[str, ...], classes: int) -> bool:
    """Whether the bytes of all columns of texts are few enough to be tried beside their words."""
    names = table.names or ()
    every = (cell for name in texts for cell in table.column(names.index(name)).tolist())
    return tries_bytes(every, classes)


def usual_candidates(rows: LabelledRows) -> tuple[Candidate, ...]:
    """Return the models of both schools, the simplest first, and a pool of models last.

    Simple is what has few parameters and assumes what they share: the order in which ties are
    decided, and no verdict. A pool keeps its rows, 2,048 at most: of more rows, and of sparse ones,
    there is none.
    """
    many = len(rows.classes) > 2
    curve = "softmax" if many else "logistic"
    gda, bayes = "GaussianDiscriminant", "NaiveBayes"
    shared = learner_named(bayes, families=_shared_variances(rows))
    whole, own = (learner_named(gda, covariance=form) for form in ("auto", "per-class"))
    found = (
        ("naive-bayes-shared", "naive Bayes (shared variance)", shared, GENERATIVE, True),
        ("gda", "GDA (shared covariance)", learner_named(gda), GENERATIVE, True),
        ("naive-bayes", "naive Bayes (mixed)", learner_named(bayes), GENERATIVE, False),
        ("logistic-penalty", f"{curve} (penalty 1)", _logistic(1.0), DISCRIMINATIVE, False),
        ("logistic", curve, _logistic(SLIGHT), DISCRIMINATIVE, True),
        ("gda-auto", "GDA (auto)", whole, GENERATIVE, False),
        ("qda", "GDA (per class)", own, GENERATIVE, False),
    )
    singles = tuple(
        Candidate(key, name, model, school, rank, curve=drawn)
        for rank, (key, name, model, school, drawn) in enumerate(found)
    )
    if is_sparse(rows.X) or not FEWEST_POOLED <= len(rows) <= MOST:
        return singles
    return (*singles, Candidate(POOL, "pool of models", learner_named("Pool"), "", len(singles)))


def candidates(models: object, rows: LabelledRows) -> tuple[Candidate, ...]:
    """Return what is to be compared.

    None is the usual ones. {name: estimator} are compared beside them. A list is compared
    alone: its entries are names of usual ones ("gda", or "lda"), "single" for all of them but
    the pool, or pairs (name, estimator).
    """
    usual = usual_candidates(rows)
    if models is None:
        return usual
    if isinstance(models, Mapping):
        return _checked((*usual, *_given(models.items(), len(usual))))
    if isinstance(models, str) or not hasattr(models, "__iter__"):
        models = [models]
    known = {name: one for one in usual for name in (one.key, one.name)}
    found: list[Candidate] = []
    for entry in models:
        if isinstance(entry, str) and entry == SINGLE:
            found += [one for one in usual if not one.is_pool]
        elif isinstance(entry, str):
            asked = entry if entry in known else usual_name(entry)
            if asked not in known:
                raise BadSetting(
                    f"there is no candidate {entry!r}",
                    hint=f"{meant(entry, known)}name one of {listed(one.key for one in usual)}; "
                    "others are given as estimators",
                )
            found.append(known[asked])
        elif isinstance(entry, tuple) and len(entry) == 2:
            found += _given([entry], len(usual) + len(found))
        else:
            found += _given([(type(entry).__name__, entry)], len(usual) + len(found))
    return _checked(tuple(found))


def takes_usual(models: object) -> bool:
    """Whether the usual candidates are asked for, and not some by name.

    >>> takes_usual(None), takes_usual(["single", ("mine", ...)]), takes_usual(["gda"])
    (True, True, False)
    """
    if models is None or isinstance(models, Mapping):
        return True
    if isinstance(models, str):
        return models == SINGLE
    return hasattr(models, "__iter__") and any(isinstance(m, str) and m == SINGLE for m in models)


def _given(pairs: Iterable[tuple[object, object]], rank: int) -> list[Candidate]:
    found = []
    for place, (name, estimator) in enumerate(pairs):
        if not (hasattr(estimator, "fit") and hasattr(estimator, "predict")):
            raise BadSetting(
                f"{name!r} is given as {estimator!r:.80}, which cannot fit and predict",
                hint="give scikit-learn estimators: {'forest': RandomForestClassifier()}",
            )
        school, kind = "", getattr(estimator, "learner_kind", None)
        if kind is not None and kind.name != "Pool":
            school = GENERATIVE if kind.adds_up else DISCRIMINATIVE
        found.append(Candidate(str(name), str(name), estimator, school, rank + place))
    return found


def _checked(found: tuple[Candidate, ...]) -> tuple[Candidate, ...]:
    if not found:
        raise BadSetting("there is no model to compare", hint="name at least one, or models=None")
    names = [one.name for one in found]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise BadSetting(
            f"more than one model is called {listed(twice)}", hint="give each a different name"
        )
    return found


def _logistic(penalty: float) -> Learner:
    return learner_named("LogisticRegression", penalty=penalty, standard_errors=False)


def _shared_variances(rows: LabelledRows) -> object:
    """Return the families of Ng and Jordan's naive Bayes: numbers normal, with one variance."""
    if is_sparse(rows.X):
        return "shared-gaussian"
    kinds = read_table(rows.X).kinds
    families = {NUMBER: "shared-gaussian", BOOLEAN: "bernoulli", CATEGORY: "categorical"}
    if len(set(kinds)) == 1:
        return families[kinds[0]]
    return {j: families[kind] for j, kind in enumerate(kinds)}
