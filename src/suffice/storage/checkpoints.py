"""How far a long reading has come, on disk: plain values and statistics, whole or not at all."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from suffice.errors import BadFile
from suffice.storage.archive import read_archive, write_archive
from suffice.storage.checks.form_checks import check_form
from suffice.storage.known_classes import name_of
from suffice.storage.model_file import no_model
from suffice.storage.object_trees import grown, planted
from suffice.storage.packed_arrays import PackedArrays
from suffice.storage.tree_checks import TreeCheck

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

NAME = "suffice checkpoint"
FORMAT = 1


def write_checkpoint(path: str | Path, state: Mapping[str, Any]) -> None:
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
    write_archive(path, {"name": NAME, "format": FORMAT, "state": tree}, arrays)


def read_checkpoint(path: str | Path) -> dict[str, Any]:
    """Return what was collected so far: checked before it is believed."""
    content, arrays = read_archive(path)
    if content.get("name") != NAME or content.get("format") != FORMAT:
        raise BadFile(
            f"{path} is not a {NAME} of format {FORMAT}",
            hint="name another file: this one is not overwritten",
        )
    try:
        TreeCheck(arrays.lengths).look(content["state"])
        found: dict[str, Any] = grown(content["state"], arrays)
        arrays.check_all_taken()
        _check_parts(found, "state")
    except Exception as error:  # noqa: BLE001  whatever it is, it is no checkpoint
        raise no_model(path, error) from None
    return found


def _check_parts(held: Any, place: str) -> None:
    """Refuse statistics, columns and families that have not the form of their kind."""
    if isinstance(held, dict):
        for name, part in held.items():
            _check_parts(part, f"{place}.{name!s:.20}")
    elif isinstance(held, (list, tuple)):
        for i, part in enumerate(held):
            _check_parts(part, f"{place}[{i}]")
    elif name_of(held):
        check_form(held, place)
