"""`suffice.load`: an estimator from a file, whichever kind of model it holds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from suffice.estimators.shared.saving import Persistent, restored
from suffice.mail.filter.database import is_database
from suffice.storage.locks import Stamp
from suffice.storage.model_file import read_model

if TYPE_CHECKING:
    from pathlib import Path


def load(path: str | Path) -> Any:
    """Return the estimator that was saved to a file, checked before it is believed.

    A mail filter (`suffice mail fit`) is a TextClassifier of what it has learned so far.

    >>> import tempfile
    >>> from pathlib import Path
    >>> import suffice
    >>> place = Path(tempfile.mkdtemp()) / "model.suffice"
    >>> suffice.GaussianDiscriminant().fit([[1.0], [2.0], [5.0], [6.0]], list("aabb")).save(place)
    >>> suffice.load(place).partial_fit([[9.0]], ["b"]).predict([[1.4], [5.1]])
    array(['a', 'b'], dtype='<U1')
    """
    if is_database(path):
        from suffice.estimators.text.mail import mail_classifier

        return mail_classifier(path)
    stamp = Stamp.of(path)  # before it is read: what comes later is noticed when it is saved
    model = restored(path, read_model(path))
    if isinstance(model, Persistent):
        model._origin = stamp
    return model
