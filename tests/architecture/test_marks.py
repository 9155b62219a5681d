"""Tests are marked by what they need, and none can need it without the mark."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import CHOSEN, NEEDS

ROOT = Path(__file__).resolve().parents[2]


def marks_of(request: pytest.FixtureRequest) -> set[str]:
    return {mark.name for mark in request.node.iter_markers()}


def test_a_process_without_the_mark_is_a_failure() -> None:
    with pytest.raises(pytest.fail.Exception, match="not marked as one that needs process"):
        subprocess.run([sys.executable, "-c", ""], check=True)


@pytest.mark.process
def test_a_process_with_the_mark_is_started() -> None:
    subprocess.run([sys.executable, "-c", ""], check=True)


def test_reference_data_without_the_mark_are_a_failure() -> None:
    with pytest.raises(pytest.fail.Exception, match="not marked as one that needs shared"):
        (ROOT.parent / "shared" / "anything").read_bytes()


def test_reference_data_with_the_mark_are_read(
    shared: Path, request: pytest.FixtureRequest
) -> None:
    assert "shared" in marks_of(request)
    assert next(path for path in shared.iterdir() if path.is_file()).read_bytes()


@pytest.mark.parametrize("shared", [1])
def test_a_value_of_that_name_is_no_fixture(shared: int, request: pytest.FixtureRequest) -> None:
    assert "shared" not in marks_of(request)


def test_fixtures_that_stand_for_a_need_are_there() -> None:
    """A fixture that is renamed would take its mark from every test that asks for it."""
    text = "\n".join(path.read_text("utf-8") for path in (ROOT / "tests").rglob("*.py"))
    named = {name for fixtures in NEEDS.values() for name in fixtures}
    for name in named | {fixture for fixture, _, _ in CHOSEN}:
        assert f"def {name}(" in text, name


@pytest.fixture
def any_database(request: pytest.FixtureRequest) -> str:
    """Stand in for the fixture that chooses a database, without one."""
    return str(request.param)


@pytest.mark.parametrize("any_database", ["duckdb", "postgres"], indirect=True)
def test_a_choice_is_marked_by_what_is_chosen(
    any_database: str, request: pytest.FixtureRequest
) -> None:
    assert ("server" in marks_of(request)) == (any_database == "postgres")
