"""A model on disk, and how far a long reading has come: whole or not at all."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from suffice.errors import BadFile, BadSetting, SufficeError
from suffice.statistics.labels import written_label
from suffice.storage.archive import (
    PackedArrays,
    archive_bytes,
    read_archive,
    read_archive_bytes,
    write_archive,
)
from suffice.storage.known_classes import name_of
from suffice.storage.object_trees import grown, planted
from suffice.storage.tree_checks import TreeCheck

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping
    from pathlib import Path

    from suffice.rows import FloatArray, Table
    from suffice.storage.archive import StoredArrays


NAME = "suffice model"
"""What a model file says it is."""
MODEL_OF = {
    "BernoulliNaiveBayes": "NaiveBayesModel",
    "ComplementNaiveBayes": "NaiveBayesModel",
    "GaussianDiscriminant": "GenerativeModel",
    "GaussianMixture": "GenerativeModel",
    "LatentClasses": "NaiveBayesModel",
    "LogisticRegression": "LinearForm",
    "MixtureDiscriminant": "GenerativeModel",
    "MultinomialNaiveBayes": "NaiveBayesModel",
    "MultivariateNormal": "Normal",
    "NaiveBayes": "NaiveBayesModel",
    "Perceptron": "LinearForm",
    "Pool": "PoolModel",
    "TextClassifier": "TextRecord",
}
"""The estimators that a file may be, and what answers for each."""
AVERAGED = {"LogisticRegression": "AveragedForm"}
"""What answers for an estimator that averages."""
LONGEST = 160
"""Characters of a refusal: what a damaged file says may be long."""


def is_model_file(path: Path) -> bool:
    """Whether a file begins as model files do; it may be damaged."""
    with path.open("rb") as file:
        start = file.read(1000)
    return start.startswith(b"PK\x03\x04") and f'"{NAME}"'.encode() in start


@dataclass(frozen=True, slots=True, eq=False)
class StoredModel:
    """What a model file holds.

    estimator  the name of the class that it was, and will be again
    settings   as the class takes them
    state      what was learned, by name; `model` is ready to answer, `columns` says how rows are
               read, `statistics` is None where they were left out
    about      the same in words, for people; nothing is read from it
    fit        of a file that was read: what its statistics have become, and `model` is of it; None
               where there are none, or where the model is not estimated from them
    """

    estimator: str
    settings: Mapping[str, Any]
    state: Mapping[str, Any]
    about: Mapping[str, Any] = field(default_factory=dict)
    fit: Any = None


def write_model(
    path: str | Path, model: StoredModel, check: Callable[[], None] | None = None
) -> None:
    """Write a model to a file, whole or not at all; `check` may refuse to replace what is there."""
    content, arrays = _content(model)
    write_archive(path, content, arrays, check)


def model_bytes(model: StoredModel) -> bytes:
    """Return the bytes that `write_model` writes to a file."""
    return archive_bytes(*_content(model))


def _content(model: StoredModel) -> tuple[dict[str, object], PackedArrays]:
    for label in getattr(model.state["model"], "labels", ()):
        written_label(label)  # refuses what could not be read again
    arrays = PackedArrays()
    content = {
        "name": NAME,
        "format": FORMAT,
        "about": dict(model.about),
        "estimator": model.estimator,
        "settings": planted(dict(model.settings), arrays),
        "state": planted(dict(model.state), arrays),
    }
    return content, arrays


def read_model(path: str | Path) -> StoredModel:
    """Return the model of a file: checked before it is believed."""
    return _model_of(path, *read_archive(path))


def read_model_bytes(data: bytes, name: str) -> StoredModel:
    """Return the model of a file's bytes, checked likewise; `name` is what refusals call them."""
    return _model_of(name, *read_archive_bytes(data, name))


def _model_of(path: str | Path, content: Mapping[str, Any], arrays: StoredArrays) -> StoredModel:
    if content.get("name") != NAME:
        raise BadFile(f"{path} is not a {NAME}", hint="model files are written by save()")
    number = content.get("format")
    if type(number) is not int or number < 1:
        raise BadFile(f"{path} has the format {number!r:.40}", hint="it is damaged: write it again")
    if number > FORMAT:
        raise BadFile(
            f"{path} has format {number}, but this program reads up to {FORMAT}",
            hint="pip install --upgrade suffice",
        )
    if not isinstance(name := content.get("estimator"), str) or name not in MODEL_OF:
        raise BadFile(
            f"{path} is a {name!r:.40}, which is not known",
            hint="pip install --upgrade suffice",
        )
    # Who writes need not load what checks.
    from suffice.storage.checks.consistency import check_sound
    from suffice.storage.checks.estimated_models import check_settings, estimated, settled
    from suffice.storage.checks.form_checks import refusal

    try:
        check = TreeCheck(arrays.lengths)
        for part in ("settings", "state"):
            check.check(content[part])
        found = StoredModel(
            name,
            _words(grown(content["settings"], arrays)),
            _words(grown(content["state"], arrays)),
            content.get("about", {}),
        )
        arrays.check_all_taken()
        check_sound(found.state)
        answering = (MODEL_OF[found.estimator], AVERAGED.get(found.estimator))
        if name_of(found.state["model"]) not in answering:
            raise refusal("model", f"is not that of a {found.estimator}")
        check_settings(found.estimator, found.settings, found.state)
        fit = estimated(found.settings, found.state)
        state = found.state
        model = settled(name, found.settings, state["model"]) if fit is None else fit.model
    except Exception as error:  # noqa: BLE001  whatever it is, it is not a model
        raise no_model(path, error) from None
    return replace(found, state={**state, "model": model}, fit=fit)


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


def _words(value: object) -> dict[str, object]:
    if not isinstance(value, dict) or not all(isinstance(key, str) for key in value):
        raise TypeError
    return value


def stored_rows(stored: StoredModel, table: Table) -> Any:
    """Return a table as the rows that the stored model takes: coded, matched, or cut into blocks.

    Columns are matched by name where the model knows names, in whatever order they come; what is
    missing, or does not belong, is refused.
    """
    model, columns, reader = stored.state["model"], stored.state["columns"], stored.estimator
    if name_of(model) == "Normal":
        raise BadSetting(
            f"a {reader} is a distribution of rows without classes: there is nothing to predict",
            hint="suffice.load(path) gives it back: log_density, typicality, sample",
        )
    if reader == "GaussianMixture" and stored.state["mixture"].noise > 0.0:
        raise BadSetting(
            "this mixture has a noise component, which belongs to no class",
            hint="suffice.load(path).predict returns -1 for its rows",
        )
    if name_of(model) in ("AveragedForm", "LinearForm"):
        return columns.rows(table, reader)
    if name_of(model) == "GenerativeModel":
        return columns.encode(table, reader)
    if name_of(model) == "TextRecord":
        from suffice.models.text.documents import Documents, read_texts

        return Documents.of(read_texts(table, columns)[1], model.limit)
    matched = columns.matched(table, reader)
    if name_of(model) == "PoolModel":
        from suffice.columns.given_kinds import of_kinds, refuse_infinite_cells

        found = of_kinds(columns, matched)
        refuse_infinite_cells(found, columns.names)
        return found
    return model.product.read(matched, learning=False, chosen=partial(_chosen, stored))


def _chosen(stored: StoredModel) -> Collection[int]:
    """Return the columns whose families nobody had named."""
    from suffice.models.naive_bayes.families_by_looks import chosen_by_looks

    asked = (stored.state.get("chosen") or {}).get("asked")
    return chosen_by_looks(asked, stored.state["columns"])


def stored_posterior(stored: StoredModel, table: Table, *, log: bool = False) -> FloatArray:
    """Return p(y | x), or its logarithm: one column for each of `stored.state["model"].labels`.

    >>> import tempfile
    >>> from pathlib import Path
    >>> from suffice import GaussianDiscriminant
    >>> from suffice.storage.model_file import read_model
    >>> from suffice.rows import read_table
    >>> place = Path(tempfile.mkdtemp()) / "model.suffice"
    >>> GaussianDiscriminant().fit([[1.0], [2.0], [5.0], [6.0]], list("aabb")).save(place)
    >>> stored_posterior(read_model(place), read_table([[3.5]]))
    array([[0.5, 0.5]])
    """
    rows = stored_rows(stored, table)
    found: FloatArray = stored.state["model"].posterior(rows, log=log)
    return found


CHECKPOINT = "suffice checkpoint"
"""What a checkpoint says it is: it has the same container, and no command opens it as a model."""
FORMAT = 1
"""The version of both kinds of file; it rises when older programs could not read what is
written."""


def write_checkpoint(path: str | Path, state: Mapping[str, object]) -> None:
    """Write what was collected so far to a file; what was there before is there until then.

    >>> import tempfile
    >>> from pathlib import Path
    >>> place = Path(tempfile.mkdtemp()) / "state"
    >>> write_checkpoint(place, {"parts": 3})
    >>> read_checkpoint(place)
    {'parts': 3}
    """
    arrays = PackedArrays()
    tree = planted(dict(state), arrays)
    write_archive(path, {"name": CHECKPOINT, "format": FORMAT, "state": tree}, arrays)


def read_checkpoint(path: str | Path) -> dict[str, Any]:
    """Return what was collected so far: checked before it is believed."""
    content, arrays = read_archive(path)
    if content.get("name") != CHECKPOINT or content.get("format") != FORMAT:
        raise BadFile(
            f"{path} is not a {CHECKPOINT} of format {FORMAT}",
            hint="name another file: this one is not overwritten",
        )
    try:
        TreeCheck(arrays.lengths).check(content["state"])
        found: dict[str, object] = grown(content["state"], arrays)
        arrays.check_all_taken()
        _check_parts(found, "state")
    except Exception as error:  # noqa: BLE001  whatever it is, it is no checkpoint
        raise no_model(path, error) from None
    return found


def _check_parts(held: object, place: str) -> None:
    """Refuse statistics, columns and families that have not the form of their kind."""
    if isinstance(held, dict):
        for name, part in held.items():
            _check_parts(part, f"{place}.{name!s:.20}")
    elif isinstance(held, (list, tuple)):
        for i, part in enumerate(held):
            _check_parts(part, f"{place}[{i}]")
    elif name_of(held):
        from suffice.storage.checks.form_checks import check_form

        check_form(held, place)
