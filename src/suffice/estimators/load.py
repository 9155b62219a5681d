"""`suffice.load`: an estimator from a file, whichever kind of model it holds, mail filters too."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from suffice.errors import BadFile
from suffice.estimators.saving import restored
from suffice.estimators.text.classifier import TextClassifier
from suffice.learning.learners.text import TextClassifierLearner
from suffice.mail.filter.calibration import statistics_of
from suffice.mail.filter.database import is_database, refusals
from suffice.mail.filter.message_identity import LIMIT, ORDER, TOKENS
from suffice.mail.filter.state import MailState
from suffice.mail.filter.summary import LABELS
from suffice.storage.locks import Stamp
from suffice.storage.model_file import read_model

if TYPE_CHECKING:
    from pathlib import Path

    from suffice.learning.learned import Learned
    from suffice.rows import Label


def load(path: str | Path) -> Any:
    """Return the estimator that was saved to a file, checked before it is believed.

    A mail filter (`suffice mail fit`) is a TextClassifier of what it has learned so far.

    Parameters
    ----------
    path : str or Path
        A model file, written by `save` or by a command.

    Returns
    -------
    estimator
        Fitted: it predicts, and learns on where the file holds its statistics.

    See Also
    --------
    train : From a table as it is to a model.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import suffice
    >>> place = Path(tempfile.mkdtemp()) / "model.suffice"
    >>> suffice.GaussianDiscriminant().fit([[1.0], [2.0], [5.0], [6.0]], list("aabb")).save(place)
    >>> suffice.load(place).partial_fit([[9.0]], ["b"]).predict([[1.4], [5.1]])
    array(['a', 'b'], dtype='<U1')
    """
    if is_database(path):
        return TextClassifier.of_learned(mail_learned(path))
    stamp = Stamp.of(path)  # before it is read: what comes later is noticed when it is saved
    model = restored(path, read_model(path))
    return model.loaded_from(stamp) if hasattr(model, "loaded_from") else model


def mail_learned(path: str | Path) -> Learned:
    """Return what a filter has learned; it is estimated anew."""
    with MailState(path) as state, refusals(path), state.at_once():
        summary, statistics = state.summary, statistics_of(state)
    if summary.missing is not None:
        raise BadFile(
            f"{path} has not learned any {summary.missing}",
            hint=f"suffice mail correct … --{summary.missing} teaches it some",
        )
    priors: dict[Label, float] | None = None
    if summary.told != summary.documents:  # some were judged right, and by the policy not learned
        priors = {
            label: n / sum(summary.told) for label, n in zip(LABELS, summary.told, strict=True)
        }
    learner = TextClassifierLearner(
        "both", ngrams=TOKENS.ngrams, lower=TOKENS.lower, order=ORDER, limit=LIMIT, priors=priors
    )
    # What it knows besides its statistics is the same whatever the texts are.
    learned = learner.learned(learner.read(list(LABELS), list(LABELS)))
    return learned.holding(statistics)
