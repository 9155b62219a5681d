"""A damaged model file, tried: it has to be refused in words, or to be a model that answers."""

from __future__ import annotations

import signal
import threading
import traceback
import warnings
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

import suffice
from suffice.errors import BadFile, SufficeError
from suffice.rows import read_table
from suffice.storage.describe import describe
from suffice.storage.model_diff import differences
from suffice.storage.model_file import read_model, stored_posterior
from tests.reference.forged_models import with_forged_parts
from tests.reference.lying_archives import with_lying_archive
from tests.reference.lying_models import with_lying_content
from tests.reference.model_file_mutations import with_damaged_bytes, with_damaged_content
from tests.reference.round_trips import adds_up
from tests.reference.saved_models import CASES, COMPONENTS, fitted, laws, noted, spread

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

DAMAGES = {
    "bytes": with_damaged_bytes,
    "zip headers and members": with_lying_archive,
    "content, checksums right": with_damaged_content,
    "meaning, checksums right": with_lying_content,
    "parts, checksums right": with_forged_parts,
}
QUESTIONS = (
    "predict", "predict_proba", "predict_log_proba", "decision_function", "log_joint",
    "log_density", "mahalanobis",
)  # fmt: skip
REFUSED, READ = "refused", "read"
SECONDS = 10
"""Of CPU: what reading a file and asking its model may take; all of them take far less than one."""


class SavedFile(NamedTuple):
    """A model file, and rows that its model can be asked about."""

    name: str
    data: bytes
    X: Any
    y: Any = None


def every_file(folder: Path, size: int = 12) -> Iterator[SavedFile]:
    """Yield a file of every kind and setting, with statistics and without."""
    rng = np.random.default_rng(2026)
    place = folder / "model"
    models = [(name, *fitted(name, rng, size)) for name in CASES | COMPONENTS]
    models += [noted(rng, size), spread(rng, size)]
    for name, model, (X, y) in models:
        alone = name not in CASES or CASES[name].alone
        for statistics in (True, False) if alone and name not in COMPONENTS else (True,):
            model.save(place, **({} if statistics else {"statistics": False}))
            told = "" if statistics else ", without statistics"
            yield SavedFile(name + told, place.read_bytes(), X, y)
    for name, law, X in laws(rng, size):
        law.save(place)
        yield SavedFile(name, place.read_bytes(), X)


def tried(place: Path, data: bytes, X: Any, y: Any = None, *, learn: bool = False) -> str:
    """Return "refused", "read", or what went wrong: another error, an answer that is NaN, or two.

    With `learn` a model that was read also has to do everything else that it can: tell about
    itself, explain, sample, be saved again, learn the rows, forget them and merge, or refuse it.
    """
    place.write_bytes(data)
    with warnings.catch_warnings(), np.errstate(all="ignore"), _limited():
        warnings.simplefilter("ignore")
        try:
            model = suffice.load(place)
            stored = read_model(place)
        except BadFile as error:
            return REFUSED if _is_clear(error, place) else f"an unclear refusal: {error}"
        except Exception as error:  # noqa: BLE001  this is what must not be
            return f"load: {error!r:.200}"
        try:
            return (
                _asked(model, X)
                or _second(model, stored, X)
                or (_used(model, stored, place, X, y) if learn else "")
                or READ
            )
        except Exception as error:  # noqa: BLE001
            where = traceback.extract_tb(error.__traceback__)[-1]
            return f"{type(model).__name__}: {error!r:.200} in {where.filename}:{where.lineno}"


@contextmanager
def _limited() -> Iterator[None]:
    """End what takes longer than it may, where that can be done."""
    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "SIGPROF"):
        yield
        return

    def late(*_: Any) -> None:
        raise TimeoutError(f"more than {SECONDS} s")

    before = signal.signal(signal.SIGPROF, late)  # of CPU: a busy machine is no fault of a file
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def _is_clear(error: BadFile, place: Path) -> bool:
    """Whether a refusal is one short line about the file, and a hint."""
    short = len(error.problem) < len(str(place)) + 250
    return short and str(place) in error.problem and "\n" not in error.problem + error.hint


def _asked(model: Any, X: Any, questions: Any = QUESTIONS) -> str:
    for question in questions:
        ask = getattr(model, question, None)
        if ask is None:
            continue
        try:
            found = ask(X)
        except SufficeError:
            continue
        # A class of too few rows for a p-value has none: NaN is what typicality says of it.
        if question == "typicality" or (question == "explain" and _is_far(model, X)):
            continue
        if _has_nan(found):
            return f"{type(model).__name__}.{question}: NaN"
    return ""


def _is_far(model: Any, X: Any) -> bool:
    """Whether rows are so far out that squares of what they contribute are not numbers."""
    try:
        return not bool((model.log_density(X) > -1e270).all())
    except SufficeError:
        return True
    except AttributeError:
        return False


def _has_nan(found: Any) -> bool:
    if isinstance(found, np.ndarray):
        return bool(found.dtype.kind == "f" and np.isnan(found).any())
    return any(
        _has_nan(getattr(found, name)) for name in getattr(found, "__dataclass_fields__", ())
    )


def _second(model: Any, stored: Any, X: Any) -> str:
    """Return where the model without an estimator around it answers otherwise."""
    if (
        not hasattr(model, "predict_proba")
        or hasattr(X, "indptr")
        or getattr(model, "_notes", None) is not None
    ):
        return ""
    try:
        ours = model.predict_proba(X)
        theirs = stored_posterior(stored, read_table(X))
    except SufficeError:
        return ""
    return "" if np.array_equal(ours, theirs) else f"{type(model).__name__} has two answers"


def _used(model: Any, stored: Any, place: Path, X: Any, y: Any) -> str:
    """Return what goes wrong when a model is told about, saved again, or changed."""
    describe(stored)
    with suppress(SufficeError):
        differences(stored, stored)
    few = X[:2] if isinstance(X, (list, np.ndarray)) or hasattr(X, "indptr") else X.head(2)
    wrong = _asked(model, few, ("explain", "typicality"))
    try:
        if hasattr(model, "sample"):
            wrong = wrong or (
                "sample: NaN" if _has_nan(_cells(model.sample(3, random_state=1))) else ""
            )
    except SufficeError:
        pass
    if wrong or not hasattr(model, "classes_"):
        return wrong
    model.save(place)
    again = suffice.load(place)
    changes = {
        "partial_fit": lambda: model.partial_fit(X, y),
        "forget": lambda: model.forget(X, y),
        "__add__": lambda: again + again,
        "leave_one_out": lambda: again.leave_one_out(X, y),
    }
    for name, change in changes.items():
        if not (adds_up(again) if name == "__add__" else hasattr(again, name)):
            continue
        try:
            done = change()
        except SufficeError:
            continue
        wrong = wrong or (_asked(done, X) if hasattr(done, "classes_") else "")
        if wrong:
            return f"after a change, {wrong}"
    return ""


def _cells(found: Any) -> Any:
    """Return the numbers of sampled rows; columns of which no cell was ever seen are blank."""
    rows = found[0] if isinstance(found, tuple) else found
    if not isinstance(rows, np.ndarray) or rows.dtype.kind != "f":
        return None
    return rows[:, ~np.isnan(rows).all(axis=0)]
