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
from suffice.mail.filter.build import write_filter
from suffice.mail.filter.message_identity import letter_of
from suffice.mail.filter.state import MailState
from suffice.storage import locks
from suffice.storage.locks import Stamp, lock_beside, locked
from tests.reference.commands_at_once import (
    MAIL_PAIRS,
    MORE,
    START,
    learned_by,
    mail_pairs_at_once,
    mail_prepared,
    pairs_at_once,
    weights,
)
from tests.text.made_mail import message

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
        for place in (model, link)
    ]
    for one in both:
        one.communicate()
    assert [one.returncode for one in both] == [0, 0]
    assert total(model) == before + 20
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
    assert "in use by another process" in found.err
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
    from suffice.training import saved_models

    whole = saved_models.load_saved
    other = model.with_name("other")
    other.write_bytes(model.read_bytes())

    def load_saved(path: Path) -> Any:
        found = whole(path)
        assert run_inside("learn", other, flowers) == 0
        other.replace(model)  # somebody else's
        return found

    from suffice.cli import main

    def run_inside(*arguments: object) -> int:
        monkeypatch.setattr(saved_models, "load_saved", whole)
        return main([str(one) for one in arguments])

    monkeypatch.setattr(saved_models, "load_saved", load_saved)
    before = total(model)
    found = run("learn", model, flowers)
    assert found.code == 75
    assert "was changed by another program" in found.err
    assert "file locks do not work" in found.err
    assert total(model) == before + 10  # those of the other


# Mail filters: `correct` changes one in place, others put another in its place


@pytest.mark.process
@pytest.mark.slow
def test_commands_on_a_filter_at_once_lead_where_one_after_the_other_would() -> None:
    found = list(mail_pairs_at_once(2 * len(MAIL_PAIRS), killed=0.0))
    assert all(one.is_right for one in found), found
    assert {one.codes for one in found} == {(0, 0)}


@pytest.mark.process
@pytest.mark.slow
def test_commands_on_a_filter_that_are_killed_leave_it_whole_and_lose_nothing_said() -> None:
    found = list(mail_pairs_at_once(2 * len(MAIL_PAIRS), killed=0.6, seed=1))
    assert any(-9 in one.codes for one in found)
    assert all(one.is_right for one in found), found


@pytest.fixture
def mail(tmp_path: Path) -> dict[str, list[str]]:
    """Return commands on `filter.db`, which has learned what `START` says."""
    found = mail_prepared(tmp_path)
    (tmp_path / "filter.db").write_bytes((tmp_path / "start.db").read_bytes())
    return found


def test_every_command_that_changes_a_filter_waits_for_its_lock(
    run: Any, mail: dict[str, list[str]], tmp_path: Path, flowers: Path
) -> None:
    place = tmp_path / "filter.db"
    commands = [
        *mail.values(),
        ["mail", "export", tmp_path / "more.db", "-o", place, "--force"],
        ["fit", flowers, "-t", "kind", "--model", "gda", "-o", place, "--force"],
        ["report", flowers, "-t", "kind", "--no-pictures", "-o", place, "--force"],
    ]
    with locked(place):
        for arguments in commands:
            found = run(*arguments, "--wait", "0")
            assert found.code == 75, arguments
            assert "in use by another process" in found.err
    assert learned_by(place) == (START, True)
    assert run(*mail["correct ham"]).code == 0


def test_a_filter_that_was_changed_while_it_was_merged_is_not_replaced(
    run: Any, mail: dict[str, list[str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on file systems without locks."""
    monkeypatch.setattr(locks, "try_lock", lambda _: None)
    from suffice.mail.filter import build as mail_building

    whole, place = mail_building.statistics_of, tmp_path / "filter.db"

    def statistics_of(state: MailState) -> Any:
        with MailState(place, write=True) as other:
            other.learn(letter_of(message(2, "ham")), 0)
        monkeypatch.setattr(mail_building, "statistics_of", whole)
        return whole(state)

    monkeypatch.setattr(mail_building, "statistics_of", statistics_of)
    found = run(*mail["merge"])
    assert found.code == 75
    assert "was changed by another program" in found.err
    assert learned_by(place) == ({**START, (2, "ham"): 1}, True)


def test_a_message_is_not_learned_by_a_filter_that_is_no_longer_there(
    run: Any, mail: dict[str, list[str]], tmp_path: Path
) -> None:
    place = tmp_path / "filter.db"
    with MailState(place, write=True) as state:
        (tmp_path / "more.db").replace(place)  # somebody else's
        with pytest.raises(FileInUse, match="has been replaced by another program"):
            state.learn(letter_of(message(2, "ham")), 0)
        with pytest.raises(FileInUse, match="has been replaced by another program"):
            state.forget(letter_of(message(-4, "ham")))
    assert learned_by(place) == (MORE, True)


def test_a_calibration_of_a_filter_that_was_replaced_meanwhile_is_not_kept(
    mail: dict[str, list[str]], tmp_path: Path, run: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from suffice.mail.filter import calibration as mail_calibration

    place, whole = tmp_path / "filter.db", mail_calibration.calibration_of

    def calibration_of(statistics: Any) -> Any:
        monkeypatch.setattr(mail_calibration, "calibration_of", whole)
        assert run(*mail["merge"]).code == 0
        return whole(statistics)

    monkeypatch.setattr(mail_calibration, "calibration_of", calibration_of)
    with MailState(place, write=True) as state:
        mail_calibration.calibrate(state)
        found = state.summary
    whole_merge = tmp_path / "both.db"
    assert run("merge", tmp_path / "start.db", tmp_path / "more.db", "-o", whole_merge).code == 0
    with MailState(whole_merge) as state:
        assert found == state.summary


def test_a_filter_that_came_meanwhile_is_not_replaced_by_a_fit(
    run: Any, mail: dict[str, list[str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from suffice.mail.filter import build as mail_building

    place, whole = tmp_path / "filter.db", mail_building.calibration_of
    place.unlink()

    def calibration_of(statistics: Any) -> Any:
        place.write_bytes((tmp_path / "start.db").read_bytes())
        return whole(statistics)

    monkeypatch.setattr(mail_building, "calibration_of", calibration_of)
    without_force = [one for one in mail["fit"] if one != "--force"]
    found = run(*without_force)
    assert found.code == 1
    assert "already exists" in found.err
    assert learned_by(place) == (START, True)
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".")]


def test_what_a_removed_filter_has_left_behind_is_not_brought_into_a_new_one(
    tmp_path: Path,
) -> None:
    place = tmp_path / "filter.db"
    write_filter(place, [(message(*key), ("ham", "spam").index(key[1])) for key in START])
    child = os.fork()
    if not child:
        MailState(place, write=True).learn(letter_of(message(2, "ham")), 0)
        os._exit(0)  # as if it were killed: nothing is closed
    assert os.waitpid(child, 0)[1] == 0
    assert (tmp_path / "filter.db-wal").stat().st_size
    place.unlink()
    write_filter(place, [(message(*key), ("ham", "spam").index(key[1])) for key in MORE])
    assert learned_by(place) == (MORE, True)


def test_a_fit_removes_what_a_killed_one_has_left_and_nothing_else(tmp_path: Path) -> None:
    place = tmp_path / "filter.db"
    left = tmp_path / ".filter.db.01234567"
    for name in (left.name, f"{left.name}-wal", ".filter.db.other", ".another.db.01234567"):
        (tmp_path / name).write_bytes(b"SQLite format 3\0")
    messages = [(message(*key), ("ham", "spam").index(key[1])) for key in START]
    with left.open("rb") as file:  # somebody is at work
        assert locks.try_lock(file.fileno())
        write_filter(place, messages)
        assert left.exists()
    write_filter(place, messages)
    names = {path.name for path in tmp_path.iterdir()}
    assert names == {"filter.db", ".filter.db.other", ".another.db.01234567"}


# In Python


def test_a_model_is_not_saved_over_a_filter(
    mail: dict[str, list[str]], tmp_path: Path, model: Path
) -> None:
    place = tmp_path / "filter.db"
    for one in (suffice.load(place), suffice.load(model), suffice.MultivariateNormal([0], [[1]])):
        with pytest.raises(suffice.errors.BadFile, match="is a mail filter"):
            one.save(place)
    assert learned_by(place) == (START, True)


def test_a_law_waits_for_the_lock_of_a_file(tmp_path: Path) -> None:
    place, law = tmp_path / "law", suffice.MultivariateNormal([0], [[1]])
    began, done = threading.Event(), threading.Event()

    def save() -> None:
        began.set()
        law.save(place)
        done.set()

    with locked(place):
        thread = threading.Thread(target=save)
        thread.start()
        assert began.wait(60)
        assert not done.wait(0.3)
        assert not place.exists()
    thread.join(60)
    assert place.exists()


def test_a_loaded_model_does_not_replace_what_others_have_saved_since(
    model: Path, flowers: Path, run: Any, tmp_path: Path
) -> None:
    mine = suffice.load(model)
    assert run("learn", model, flowers).code == 0
    held = model.read_bytes()
    with pytest.raises(FileInUse, match="was changed by another program"):
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


def test_a_lock_that_was_removed_while_it_was_waited_for_is_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever had it has removed it between two calls: what is held then keeps nobody away."""
    place, whole, gone = tmp_path / "model", locks._opened, []

    def opened(beside: Path) -> int:
        handle = whole(beside)
        if not gone:
            gone.append(beside.stat().st_ino)
            beside.unlink()
        return handle

    monkeypatch.setattr(locks, "_opened", opened)
    with locked(place, 30.0) as alone:
        assert alone
        assert gone
        with pytest.raises(FileInUse), locked(place, 0.0):
            pass


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
