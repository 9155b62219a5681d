"""Saving while the disk is full, the folder closed, or somebody pulls the plug."""

from __future__ import annotations

import errno
import os
import signal
import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import suffice
from suffice.storage.atomic_writes import whole_file
from tests.reference.interrupted_saves import stopped_saves, two_models

TIMES = 20
unix = pytest.mark.skipif(os.name != "posix", reason="signals and limits are POSIX")


@pytest.fixture
def model() -> Any:
    return suffice.GaussianDiscriminant().fit([[0.0], [1.0], [5.0], [7.0]], list("aabb"))


@unix
@pytest.mark.process
def test_a_process_that_is_killed_leaves_the_old_file_or_the_new_one(tmp_path: Path) -> None:
    found = list(stopped_saves(tmp_path, TIMES, signal.SIGKILL))
    assert len(found) == TIMES
    assert set(found) <= {(tmp_path / name).read_bytes() for name in ("first", "second")}


@unix
@pytest.mark.process
def test_an_interruption_leaves_a_whole_file_and_nothing_beside_it(tmp_path: Path) -> None:
    found = list(stopped_saves(tmp_path, 3, signal.SIGINT))
    assert set(found) <= {(tmp_path / name).read_bytes() for name in ("first", "second")}
    assert [path.name for path in (tmp_path / "saved").iterdir()] == ["model"]


@unix
@pytest.mark.process
def test_a_full_disk_leaves_the_old_file(tmp_path: Path) -> None:
    first, second = two_models(tmp_path, 40)
    program = (
        "import sys, resource, signal, suffice\n"
        "model = suffice.load(sys.argv[1])\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (9000, 9000))\n"
        "try:\n"
        "    model.save(sys.argv[2])\n"
        "except OSError as error:\n"
        "    print(error.errno, error.filename)\n"
    )
    place = tmp_path / "folder" / "model"
    place.parent.mkdir()
    place.write_bytes(first.read_bytes())
    source = Path(suffice.__file__).parents[1]
    done = subprocess.run(
        [sys.executable, "-c", program, str(second), str(place)],
        env={**os.environ, "PYTHONPATH": str(source)}, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout.split() == [str(errno.EFBIG), str(place)]
    assert place.read_bytes() == first.read_bytes()
    assert [path.name for path in place.parent.iterdir()] == ["model"]


@pytest.mark.parametrize("error", [OSError(errno.ENOSPC, "No space left on device"),
                                   KeyboardInterrupt(), MemoryError()])  # fmt: skip
@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_whatever_fails_the_old_file_stays(
    model: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: BaseException, step: str
) -> None:
    place = tmp_path / "model.suffice"
    model.save(place)
    before = place.read_bytes()
    model.partial_fit([[9.0]], ["b"])

    def fail(*_: Any) -> None:
        raise error

    owner: Any = os if step == "fsync" else Path
    with monkeypatch.context() as patched:
        patched.setattr(owner, step, fail)
        with pytest.raises(type(error)) as told:
            model.save(place)
    if isinstance(told.value, OSError):
        assert told.value.filename == str(place)
    assert place.read_bytes() == before
    assert list(tmp_path.iterdir()) == [place]
    model.save(place)
    assert place.read_bytes() != before


def test_a_place_that_cannot_be_written_is_named(model: Any, tmp_path: Path) -> None:
    missing, folder = tmp_path / "no" / "model", tmp_path / "folder"
    folder.mkdir()
    for place, kind in ((missing, FileNotFoundError), (folder, IsADirectoryError)):
        with pytest.raises(kind) as told:
            model.save(place)
        assert told.value.filename == str(place)
    assert list(tmp_path.iterdir()) == [folder]


@unix
def test_a_closed_folder_is_named(model: Any, tmp_path: Path) -> None:
    folder = tmp_path / "closed"
    folder.mkdir()
    folder.chmod(0o555)
    root = os.geteuid() == 0  # who may write everywhere
    if root:
        os.seteuid(65534)
    try:
        with pytest.raises(PermissionError) as told:
            model.save(folder / "model")
    finally:
        if root:
            os.seteuid(0)
        folder.chmod(0o755)
    assert told.value.filename == str(folder / "model")
    assert not list(folder.iterdir())


@unix
def test_links_and_rights_stay_what_they_were(model: Any, tmp_path: Path) -> None:
    place, link = tmp_path / "models" / "third", tmp_path / "current"
    place.parent.mkdir()
    link.symlink_to(place)
    model.save(link)
    assert link.is_symlink()
    place.chmod(0o640)
    model.save(link)
    assert stat.S_IMODE(place.stat().st_mode) == 0o640
    assert suffice.load(link).predict([[6.0]]) == ["b"]


@unix
def test_a_new_file_has_the_rights_of_any_new_file(model: Any, tmp_path: Path) -> None:
    (tmp_path / "plain").write_text("")
    model.save(tmp_path / "model")
    assert (tmp_path / "model").stat().st_mode == (tmp_path / "plain").stat().st_mode


@unix
def test_a_pipe_is_written_to_and_not_replaced(model: Any, tmp_path: Path) -> None:
    pipe, copy = tmp_path / "pipe", tmp_path / "copy"
    os.mkfifo(pipe)
    with ThreadPoolExecutor() as pool:
        read = pool.submit(pipe.read_bytes)
        model.save(pipe)
        copy.write_bytes(read.result())
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert suffice.load(copy).predict([[6.0]]) == ["b"]


def test_a_long_name_is_no_obstacle(model: Any, tmp_path: Path) -> None:
    place = tmp_path / ("ü" * 120)
    model.save(place)
    assert suffice.load(place).predict([[6.0]]) == ["b"]


def test_what_a_block_wrote_before_it_failed_is_nowhere(tmp_path: Path) -> None:
    def write() -> None:
        with whole_file(tmp_path / "half") as file:
            file.write(b"half")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        write()
    assert not list(tmp_path.iterdir())


def test_an_error_about_another_file_keeps_its_name(tmp_path: Path) -> None:
    def write() -> None:
        with whole_file(tmp_path / "half"):
            (tmp_path / "font").read_bytes()

    with pytest.raises(FileNotFoundError) as told:
        write()
    assert told.value.filename == str(tmp_path / "font")
    assert not list(tmp_path.iterdir())
