"""Settings without a meaning, of every estimator; documents, normal laws and model files."""

from __future__ import annotations
from typing import TYPE_CHECKING, Any
if TYPE_CHECKING:
    from collections.abc import Callable
    from tests.reference.refusals import Cases
GROUPS: dict[str, Callable[[], Cases]] = {}
