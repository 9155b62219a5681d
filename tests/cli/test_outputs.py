"""What commands write to: looked at first, never at the cost of what is there."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

import suffice
from suffice.storage.atomic_writes import whole_file

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

unix = pytest.mark.skipif(os.name != "posix", reason="links and forks are POSIX")
FIT = ("--target", "kind", "--model", "gda")


def writers(flowers: Path, model: Path) -> dict[str, tuple[object, ...]]:
    """Return every command that writes a file, without saying where."""
    return {
        "fit": ("fit", flowers, *FIT),
        "learn": ("learn", model, flowers),
        "forget": ("forget", model, flowers),
        "merge": ("merge", model, model),
        "report": ("report", flowers, "--target", "kind", "--no-pictures"),
    }


COMMANDS = ("fit", "learn", "forget", "merge", "report")


@pytest.fixture
def model(fitted: Callable[..., Path], flowers: Path) -> Path:
    return fitted(flowers, "kind", "gda")


@pytest.mark.parametrize("command", ["fit", "learn", "report"])
@pytest.mark.parametrize(
    ("way", "force"),
    [
        *((way, ()) for way in ("same", "symlink", "hard link", "pattern")),
        *((way, ("--force",)) for way in ("same", "symlink", "hard link", "pattern", "stdin")),
    ],
)
@unix
def test_a_table_that_is_read_is_not_replaced(
    command: str, way: str, force: tuple[str, ...], run: Any, shell: Any, flowers: Path, model: Path
) -> None:
    before = flowers.read_bytes()
    place = flowers.with_name("other.csv")
    if way == "symlink":
        place.symlink_to(flowers)
    elif way == "hard link":
        place.hardlink_to(flowers)
    else:
        place = flowers
    arguments = [str(one) for one in writers(flowers, model)[command]]
    if way == "pattern":
        arguments[arguments.index(str(flowers))] = str(flowers.parent / "flow*.csv")
    if way == "stdin":
        arguments[arguments.index(str(flowers))] = "-"
        found = shell(f"suffice {' '.join(arguments)} {' '.join(force)} -o '{place}' < '{flowers}'")
    else:
        found = run(*arguments, *force, "-o", place)
    assert found.code == 1
    assert "is an input" in found.err
    assert "Hint: write to another file; inputs are never replaced" in found.err
    assert flowers.read_bytes() == before


@pytest.mark.parametrize("link", [None, "symlink_to", "hardlink_to"])
@unix
def test_whatever_else_is_read_is_not_replaced_either(
    link: str | None, run: Any, flowers: Path, tmp_path: Path
) -> None:
    """What options name is an input, and so are the files of a state."""
    declared = tmp_path / "columns.txt"
    declared.write_text("# what columns are\n")
    clusters = tmp_path / "found.suffice"
    assert run("cluster", flowers, "--drop", "kind", "--components", "1", "-o", clusters).code == 0
    state = tmp_path / "state"
    state.mkdir()
    log = state / "log.sqlite"
    log.write_bytes(b"rows that nobody has elsewhere")
    unlabelled = tmp_path / "unlabelled.csv"
    unlabelled.write_bytes(flowers.read_bytes())
    fit = ("fit", flowers, *FIT, "--columns", declared)
    for arguments, read in (
        (fit, declared),
        (("fit", flowers, *FIT, "--unlabelled", unlabelled), unlabelled),
        (("report", flowers, "--target", "kind", "--columns", declared), declared),
        (("report", flowers, "--clusters", clusters), clusters),
        (("replay", state, "--until", "2030-01-01"), log),
    ):
        before, place = read.read_bytes(), read
        if link is not None:
            place = tmp_path / "elsewhere"
            place.unlink(missing_ok=True)
            getattr(place, link)(read)
        found = run(*arguments, "-o", place, "--force")
        assert found.code == 1
        assert "is an input" in found.err
        assert read.read_bytes() == before
    if link is None:  # another place is no input
        assert run(*fit, "-o", tmp_path / "model.suffice").code == 0


@unix
def test_a_database_that_is_read_is_not_replaced(run: Any, tmp_path: Path) -> None:
    import duckdb

    place = tmp_path / "flowers.duckdb"
    with duckdb.connect(str(place)) as connection:
        connection.execute("CREATE TABLE flowers AS SELECT 1.0 AS x, 'rose' AS kind")
    before = place.read_bytes()
    found = run("fit", f"duckdb://{place}?table=flowers", *FIT, "-o", place, "--force")
    assert found.code == 1
    assert "is an input" in found.err
    assert place.read_bytes() == before


def test_a_model_that_is_changed_in_place_is_replaced(run: Any, flowers: Path, model: Path) -> None:
    for arguments in (
        ("learn", model, flowers, "-o", model),
        ("merge", model, model, "-o", model),
        ("forget", model, flowers, "-o", model),
    ):
        before = model.read_bytes()
        assert run(*arguments).code == 0
        assert model.read_bytes() != before


@pytest.mark.parametrize("command", COMMANDS)
def test_what_is_there_and_not_ours_stays_without_force(
    command: str, run: Any, flowers: Path, model: Path, tmp_path: Path
) -> None:
    place = tmp_path / "letter"
    place.write_bytes(b"Dear Ada,\n" * 100)
    arguments = writers(flowers, model)[command]
    found = run(*arguments, "-o", place)
    assert found.code == 1
    assert "already exists" in found.err
    assert place.read_bytes() == b"Dear Ada,\n" * 100
    if command != "forget":  # which would leave nothing
        assert run(*arguments, "-o", place, "--force").code == 0
        assert run(*arguments, "-o", place).code == 0, "what is ours is replaced"


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("place", ["missing/file", "folder", "x" * 300, "flowers.csv/file"])
def test_a_place_that_cannot_be_written_is_refused_before_anything_is_read(
    command: str, place: str, run: Any, flowers: Path, model: Path, tmp_path: Path
) -> None:
    (tmp_path / "folder").mkdir()
    arguments = list(writers(flowers, model)[command])
    absent = tmp_path / "absent"  # had it been read first, that would be the refusal
    arguments = [absent if one in (flowers, model) else one for one in arguments]
    found = run(*arguments, "-o", tmp_path / place)
    assert found.code == 1
    assert "absent" not in found.err
    assert place[:50] in found.err
    assert "Traceback" not in found.err


def test_a_model_goes_to_standard_output(shell: Any, flowers: Path, tmp_path: Path) -> None:
    line = f"suffice fit '{flowers}' --target kind --model gda -o -"
    assert shell(f"{line} > '{tmp_path}/printed'").code == 0
    assert (
        shell(f"suffice fit '{flowers}' --target kind --model gda -o '{tmp_path}/file'").code == 0
    )
    assert (tmp_path / "printed").read_bytes() == (tmp_path / "file").read_bytes()
    assert suffice.load(tmp_path / "printed").classes_.tolist() == ["daisy", "rose"]
    assert not (tmp_path / "-").exists()


@pytest.mark.parametrize(
    "arguments",
    [
        ("fit", "flowers.csv", *FIT, "-o", "-", "--json"),
        ("fit", "flowers.csv", *FIT, "--checkpoint", "-"),
        ("demo", "-o", "-"),
        ("demo", "--picture", "-"),
        ("mail", "fit", "a", "b", "-o", "-"),
    ],
)
def test_standard_output_is_refused_where_it_makes_no_sense(
    arguments: tuple[str, ...], run: Any, flowers: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(flowers.parent)
    found = run(*arguments)
    assert found.code == 2
    assert "standard output" in found.err
    assert not (flowers.parent / "-").exists()


def test_a_fit_says_where_its_model_is_even_if_that_is_nowhere(run: Any, flowers: Path) -> None:
    found = run("fit", flowers, *FIT, "-o", os.devnull, "--json")
    assert found.code == 0
    assert '"log_loss": null' in found.out  # nothing was compared


@unix
def test_answers_are_not_printed_into_the_table_they_are_about(
    shell: Any, flowers: Path, model: Path
) -> None:
    before = flowers.read_bytes()
    for command in ("predict", "outliers", "explain"):
        found = shell(f"suffice {command} '{model}' '{flowers}' >> '{flowers}'")
        assert found.code == 1
        assert "standard output is one of the input tables" in found.err
        assert flowers.read_bytes() == before


# What is left beside a file


@unix
@pytest.mark.process
def test_what_a_killed_process_left_beside_a_file_is_swept_at_the_next_save(
    model: Path, tmp_path: Path
) -> None:
    """Killed after the file has got a name, and before it is renamed."""
    program = (
        "import os, sys, suffice\nfrom pathlib import Path\n"
        "Path.replace = lambda *_: os._exit(9)\n"
        "suffice.load(sys.argv[1]).save(sys.argv[2])"
    )
    place = tmp_path / "saved" / "model.suffice"
    place.parent.mkdir()
    done = subprocess.run(
        [sys.executable, "-c", program, str(model), str(place)],
        env={**os.environ, "PYTHONPATH": str(suffice.__path__[0]).rsplit("/", 1)[0]}, check=False,
    )  # fmt: skip
    assert done.returncode == 9
    left = [path.name for path in place.parent.iterdir() if path.name.startswith(".model.suffice.")]
    assert any(not name.endswith(".lock") for name in left)
    suffice.load(model).save(place)
    assert [path.name for path in place.parent.iterdir()] == ["model.suffice"]


@unix
def test_files_that_others_are_writing_are_not_swept(tmp_path: Path) -> None:
    place = tmp_path / "page.html"
    strangers = [
        ".page.html.notes", ".page.html.1234567", ".page.html.123456789", ".other.html.12345678",
        "page.html.12345678", ".page.html.1234567G",
    ]  # fmt: skip
    for name in strangers:
        (tmp_path / name).write_text("mine")
    (tmp_path / ".page.html.0123abcd").mkdir()
    with whole_file(place, ".html") as first:
        first.write(b"first")
        (beside,) = (p for p in tmp_path.iterdir() if p.name.endswith(".html") and p != place)
        with whole_file(place, ".html") as second:
            second.write(b"second")
        assert beside.exists()
        with whole_file(place) as third:
            third.write(b"third")
        assert place.read_bytes() == b"third"
    assert place.read_bytes() == b"first"
    found = {path.name for path in tmp_path.iterdir()}
    assert found == {*strangers, ".page.html.0123abcd", "page.html"}


def test_warm_says_where_compiled_loops_are_kept_and_refuses_a_place_that_cannot_be(
    run: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("numba", reason="numba is not installed: there is nothing to warm")
    from suffice.kernels import compilation, kept_loops

    known = (kept_loops.folder, kept_loops.all_are_kept)
    monkeypatch.setattr(compilation, "_makers", [(lambda: None, lambda: [()])])
    monkeypatch.setattr(compilation, "walk_packages", lambda *_: [])
    try:
        for name, code in (("here", 0), ("a file", 1)):
            if code:
                (tmp_path / name).write_bytes(b"")
            monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / name))
            for each in known:
                each.cache_clear()
            done = run("warm")
            assert done.code == code, done
            assert done.out == ""
            if code:
                assert "compiled loops cannot be kept" in done.err
                assert "Hint: set NUMBA_CACHE_DIR" in done.err
            else:
                assert done.err == f"{tmp_path / name / 'suffice'}: 1 loops\n"
                assert kept_loops.all_are_kept()
    finally:
        monkeypatch.undo()
        for each in known:
            each.cache_clear()
