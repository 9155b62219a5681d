"""What commands never use, and what they use would load by itself."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from importlib.machinery import ModuleSpec
    from types import ModuleType

FRAMES = "pandas"
"""Loaded by Arrow on the first array that it makes, to know its frames: half a second of CPU in
which Ctrl-C is lost, since an import that fails there is taken for a library that is missing."""


class _NotHere:
    """Finds no module, and says of one that there is none."""

    @staticmethod
    def find_spec(
        name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        del path, target  # asked for the name alone
        if name == FRAMES:
            raise ModuleNotFoundError(f"commands read no frames: {name} is not loaded", name=name)
        return None


@contextmanager
def without_frames() -> Iterator[None]:
    """Keep pandas from being loaded; where it is there already, it stays."""
    sys.meta_path.insert(0, _NotHere)
    try:
        yield
    finally:
        sys.meta_path.remove(_NotHere)
