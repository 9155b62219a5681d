"""A model on disk: what it is in words, its settings, what it learned, and the model itself."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from suffice.errors import BadFile, SufficeError
from suffice.files.archive import read_archive, write_archive
from suffice.files.packed_arrays import PackedArrays
from suffice.files.soundness import check_sound
from suffice.files.trees import grown, planted

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

FORMAT = 1
"""The number of the format; files of smaller numbers stay readable."""
NAME = "suffice model"
LONGEST = 160
"""Characters of a refusal: what a damaged file says may be long."""


@dataclass(frozen=True, slots=True, eq=False)
class StoredModel:
    """What a model file holds.

    estimator  the name of the class that it was, and will be again
    settings   as the class takes them
    state      what was learned, by name; `model` is ready to answer, `columns` says how rows are
               read, `statistics` is None where they were left out
    about      the same in words, for people; nothing is read from it
    """

    estimator: str
    settings: Mapping[str, Any]
    state: Mapping[str, Any]
    about: Mapping[str, Any] = field(default_factory=dict)


def write_model(
    path: str | Path, model: StoredModel, check: Callable[[], None] | None = None
) -> None:
    """Write a model to a file, whole or not at all; `check` may refuse to replace what is there."""
    arrays = PackedArrays()
    content = {
        "name": NAME,
        "format": FORMAT,
        "about": dict(model.about),
        "estimator": model.estimator,
        "settings": planted(dict(model.settings), arrays),
        "state": planted(dict(model.state), arrays),
    }
    write_archive(path, content, arrays, check)


def read_model(path: str | Path) -> StoredModel:
    """Return the model of a file: checked before it is believed."""
    content, arrays = read_archive(path)
    if content.get("name") != NAME:
        raise BadFile(f"{path} is not a {NAME}", hint="model files are written by save()")
    number = content.get("format")
    if type(number) is not int or number < 1:
        raise BadFile(f"{path} has the format {number!r:.40}", hint="it is damaged: write it again")
    if number > FORMAT:
        raise BadFile(
            f"{path} has the format {number}, this program reads up to {FORMAT}",
            hint="pip install --upgrade suffice",
        )
    try:
        found = StoredModel(
            _text(content["estimator"]),
            _words(grown(content["settings"], arrays)),
            _words(grown(content["state"], arrays)),
            content.get("about", {}),
        )
        arrays.check_all_taken()
        check_sound(found.state)
    except Exception as error:  # noqa: BLE001  whatever it is, it is not a model
        raise no_model(path, error) from None
    return found


def no_model(path: str | Path, error: Exception) -> BadFile:
    """Return the refusal of a file, in one line, whatever its content made go wrong."""
    if not isinstance(error, SufficeError):
        return BadFile(
            f"{path} does not describe a model ({type(error).__name__})",
            hint="it is damaged, or was made by another program: write it again",
        )
    told = " ".join("".join(c if c.isprintable() else " " for c in error.problem).split())
    short = told if len(told) <= LONGEST else f"{told[:LONGEST]}…"
    return BadFile(f"{path}: {short}", hint=error.hint.splitlines()[0][:LONGEST])


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value


def _words(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict) or not all(isinstance(key, str) for key in value):
        raise TypeError
    return value
