"""A damaged model file, tried: it has to be refused in words, or to be a model that answers."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

import suffice
from suffice.errors import BadFile, SufficeError
from tests.reference.lying_archives import with_lying_archive
from tests.reference.lying_models import with_lying_content
from tests.reference.model_file_mutations import with_damaged_bytes, with_damaged_content
from tests.reference.saved_models import CASES, fitted, laws, noted

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

DAMAGES = {
    "bytes": with_damaged_bytes,
    "zip headers and members": with_lying_archive,
    "content, checksums right": with_damaged_content,
    "meaning, checksums right": with_lying_content,
}
QUESTIONS = (
    "predict", "predict_proba", "predict_log_proba", "decision_function", "log_joint",
    "log_density", "mahalanobis",
)  # fmt: skip
REFUSED, READ = "refused", "read"


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
    models = [(name, *fitted(name, rng, size)) for name in CASES]
    models += [noted(rng, size)]
    for name, model, (X, y) in models:
        for statistics in (True, False):
            model.save(place, statistics=statistics)
            told = "" if statistics else ", without statistics"
            yield SavedFile(name + told, place.read_bytes(), X, y)
    for name, law, X in laws(rng, size):
        law.save(place)
        yield SavedFile(name, place.read_bytes(), X)


def tried(place: Path, data: bytes, X: Any, y: Any = None, *, learn: bool = False) -> str:
    """Return "refused", "read", or what went wrong: another error, or an answer that is NaN.

    With `learn` a model that was read also has to learn the rows, or to refuse them.
    """
    place.write_bytes(data)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            model = suffice.load(place)
        except BadFile as error:
            return REFUSED if _is_clear(error, place) else f"an unclear refusal: {error}"
        except Exception as error:  # noqa: BLE001  this is what must not be
            return f"load: {error!r:.200}"
        wrong = _asked(model, X)
        if not wrong and learn and hasattr(model, "partial_fit"):
            try:
                wrong = _asked(model.partial_fit(X, y), X)
            except SufficeError:
                return READ
            except Exception as error:  # noqa: BLE001
                return f"partial_fit: {error!r:.200}"
        return wrong or READ


def _is_clear(error: BadFile, place: Path) -> bool:
    """Whether a refusal is one short line about the file, and a hint."""
    short = len(error.problem) < len(str(place)) + 250
    return short and str(place) in error.problem and "\n" not in error.problem + error.hint


def _asked(model: Any, X: Any) -> str:
    for question in QUESTIONS:
        ask = getattr(model, question, None)
        if ask is None:
            continue
        try:
            found = ask(X)
        except SufficeError:
            continue
        except Exception as error:  # noqa: BLE001  this is what must not be
            return f"{type(model).__name__}.{question}: {error!r:.200}"
        if found.dtype.kind == "f" and np.isnan(found).any():
            return f"{type(model).__name__}.{question}: NaN"
    return ""
