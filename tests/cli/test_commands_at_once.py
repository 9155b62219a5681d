"""Commands that change one model at the same time: nothing is lost, or it is said."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from typing import TYPE_CHECKING, Any

import pytest

import suffice
from suffice.errors import FileInUse
from suffice.files import locks
from suffice.files.locks import Stamp, lock_beside, locked
from tests.reference.commands_at_once import pairs_at_once, weights

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

pytestmark = pytest.mark.skipif(os.name != "posix", reason="forks and signals are POSIX")


@pytest.fixture
def model(fitted: Callable[..., Path], flowers: Path) -> Path:
    return fitted(flowers, "kind", "gda")


def total(path: Path) -> float:
    return sum(weights(path).values())


@pytest.mark.process
def test_two_commands_at_once_both_count() -> None:
    found = list(pairs_at_once(6, killed=0.0))
    assert [one.codes for one in found] == [(0, 0)] * 6
    assert all(one.is_right for one in found), found


@pytest.mark.process
def test_commands_that_are_killed_leave_a_whole_model_and_a_free_lock() -> None:
    found = list(pairs_at_once(8, killed=0.6, seed=1))
    assert any(-9 in one.codes for one in found)
    assert all(one.is_right for one in found), found


def test_processes_that_learn_at_once_both_count(
    environment: dict[str, str], model: Path, flowers: Path
) -> None:
    before = total(model)
    link = model.with_name("link")
    link.symlink_to(model)
    command = [sys.executable, "-m", "suffice.cli", "learn"]
    both = [
        subprocess.Popen([*command, place, flowers], env=environment, stderr=subprocess.PIPE)
        for place in (model, link, model)
    ]
    for one in both:
        one.communicate()
    assert [one.returncode for one in both] == [0, 0, 0]
    assert total(model) == before + 30
    assert not [path for path in model.parent.iterdir() if path.name.startswith(".")]


def test_a_command_waits_and_says_so(run: Any, model: Path, flowers: Path) -> None:
    before = total(model)
    taken, free = threading.Event(), threading.Event()

    def hold() -> None:
        with locked(model):
            taken.set()
            free.wait(60)

    holder = threading.Thread(target=hold)
    holder.start()
    assert taken.wait(60)
    found = run("learn", model, flowers, "--wait", "0")
    assert found.code == 75
    assert "is being changed by another process" in found.err
    assert "Hint: " in found.err
    assert total(model) == before
    for arguments in (
        ("forget", model, flowers, "--wait", "0.01"),
        ("merge", model, model, "-o", model, "--wait", "0.01"),
        ("fit", flowers, "-t", "kind", "--model", "gda", "-o", model, "--wait", "0.01"),
    ):
        assert run(*arguments).code == 75, arguments
    assert total(model) == before
    threading.Timer(0.3, free.set).start()
    found = run("learn", model, flowers)
    assert found.code == 0
    assert "note: another process is changing" in found.err
    assert total(model) == before + 10
    holder.join()


def test_a_model_that_was_changed_by_who_does_not_care_for_locks_is_not_replaced(
    run: Any, model: Path, flowers: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on file systems without locks, where two commands can read the same model."""
    monkeypatch.setattr(locks, "try_lock", lambda _: None)
    from suffice.cli import model_files

    whole = model_files.load_saved
    other = model.with_name("other")
    other.write_bytes(model.read_bytes())

    def load_saved(path: Path) -> Any:
        found = whole(path)
        assert run_inside("learn", other, flowers) == 0
        other.replace(model)  # somebody else's
        return found

    from suffice.cli import main

    def run_inside(*arguments: object) -> int:
        monkeypatch.setattr(model_files, "load_saved", whole)
        return main([str(one) for one in arguments])

    monkeypatch.setattr(model_files, "load_saved", load_saved)
    before = total(model)
    found = run("learn", model, flowers)
    assert found.code == 75
    assert "was changed by somebody else" in found.err
    assert "there are no locks" in found.err
    assert total(model) == before + 10  # those of the other


# In Python


def test_a_loaded_model_does_not_replace_what_others_have_saved_since(
    model: Path, flowers: Path, run: Any, tmp_path: Path
) -> None:
    mine = suffice.load(model)
    assert run("learn", model, flowers).code == 0
    held = model.read_bytes()
    with pytest.raises(FileInUse, match="was changed by somebody else"):
        mine.save(model)
    assert model.read_bytes() == held
    mine.save(tmp_path / "elsewhere")
    again = suffice.load(model)
    again.save(model)
    again.save(model)  # its own change is no surprise
    assert model.read_bytes() == held


def test_a_lock_is_one_at_a_time_among_threads_and_is_gone_afterwards(tmp_path: Path) -> None:
    place = tmp_path / "model"
    inside: list[int] = []
    most: list[int] = []

    def work() -> None:
        for _ in range(15):
            with locked(place) as alone:
                assert alone
                inside.append(1)
                most.append(len(inside))
                inside.pop()

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert len(most) == 90
    assert max(most) == 1
    assert not list(tmp_path.iterdir())


def test_a_lock_that_nobody_holds_any_more_is_taken_over(tmp_path: Path) -> None:
    place = tmp_path / "model"
    lock_beside(place).write_text("left by a process that was killed")
    started = time.monotonic()
    with locked(place, seconds=30.0) as alone:
        assert alone
    assert time.monotonic() - started < 20.0
    assert not list(tmp_path.iterdir())


def test_names_as_long_as_they_may_be_have_locks_of_their_own(tmp_path: Path) -> None:
    one, two = tmp_path / ("x" * 254 + "1"), tmp_path / ("x" * 254 + "2")
    with locked(one, 0.0) as first, locked(two, 0.0) as second:
        assert first
        assert second


def test_a_stamp_tells_every_save_apart(tmp_path: Path) -> None:
    place = tmp_path / "file"
    nothing = Stamp.of(place)
    place.write_bytes(b"1")
    with pytest.raises(FileInUse):
        nothing.check()
    first = Stamp.of(place)
    first.check()
    other = tmp_path / "other"
    other.write_bytes(b"1")
    other.replace(place)
    with pytest.raises(FileInUse):
        first.check()
