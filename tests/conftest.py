"""What every test may ask for."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).resolve().parents[1]

# Searches differ from run to run, so that the suite goes on looking; a failure prints the line
# that replays it. In continuous integration they are the same every time: what is checked there is
# the change, and not the luck of the draw.
settings.register_profile(
    "default",
    max_examples=40,
    deadline=None,
    derandomize=os.environ.get("CI") == "true",
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile(
    "evidence",
    settings.get_profile("default"),
    derandomize=False,
    max_examples=2_000,
)
settings.load_profile(os.environ.get("SUFFICE_PROFILE", "default"))


def _require(condition: object, reason: str) -> None:
    """Skip the test unless `condition` holds; where everything is required, fail instead."""
    if condition:
        return
    if os.environ.get("SUFFICE_REQUIRE_ALL") == "1":
        pytest.fail(f"{reason} (SUFFICE_REQUIRE_ALL=1 turns this skip into a failure)")
    pytest.skip(reason)


@pytest.fixture(scope="session")
def require() -> Callable[[object, str], None]:
    """Return `require(condition, reason)`, for tests that need a part the system may lack."""
    return _require


@pytest.fixture(scope="session")
def root() -> Path:
    """Return the folder of the project."""
    return ROOT


@pytest.fixture(scope="session")
def shared() -> Path:
    """Return the folder of reference data beside the project."""
    folder = ROOT.parent / "shared"
    _require(folder.is_dir(), f"no reference data: {folder} is not there")
    return folder


@pytest.fixture(autouse=True)
def _pictures_without_a_screen() -> None:
    """Let no test open a window, without importing matplotlib for those that never draw."""
    if "matplotlib" in sys.modules:
        import matplotlib as mpl

        mpl.use("Agg")
