"""What a refusal advises: the thing that helps, in words of the command line."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.fixture
def model(fitted: Callable[..., Path], flowers: Path) -> Path:
    return fitted(flowers, "kind", "gda")


def hint(said: Any) -> str:
    """Return what a refusal advises."""
    assert said.code in (1, 2)
    found: str = said.err.partition("Hint: ")[2].strip()
    assert found
    return found


def test_only_a_column_that_the_model_does_not_know_can_have_been_meant(
    run: Any, model: Path, flowers: Path
) -> None:
    rows = flowers.read_text().splitlines()
    target = [row.rpartition(",")[2] for row in rows]
    flowers.write_text("\n".join(target) + "\n")
    found = hint(run("predict", model, flowers))
    assert "did you mean" not in found
    assert "size, colour, petals, scented" in found
    flowers.write_text("\n".join([rows[0].replace("petals", "petal"), *rows[1:]]) + "\n")
    assert "did you mean 'petal'?" in hint(run("predict", model, flowers))


def test_a_file_that_is_not_there_is_offered_by_its_right_name(
    run: Any, model: Path, flowers: Path, tmp_path: Path
) -> None:
    for arguments in (
        ("fit", flowers.with_name("flower.csv"), "-t", "kind"),
        ("predict", model, flowers.with_name("flower.csv")),
        ("learn", model, flowers.with_name("flower.csv")),
    ):
        found = hint(run(*arguments))
        assert "did you mean 'flowers.csv'?" in found
        assert "Folders" not in found
    assert "no folder" in hint(run("predict", model, tmp_path / "missing" / "rows.csv"))
    assert "no folder" in hint(
        run("fit", flowers, "-t", "kind", "--model", "gda", "-o", tmp_path / "missing" / "model")
    )
    assert "is the name right?" in hint(run("predict", model, tmp_path / "zzzzzzzzzz"))


def test_decimal_commas_are_not_taken_for_sentences(run: Any, tmp_path: Path) -> None:
    rows = tmp_path / "rows.csv"
    lines = [f"{i},{i * 37 % 101:02};{'ab'[i % 2]}" for i in range(60)]
    rows.write_text("size;kind\n" + "\n".join(lines) + "\n")
    found = run("fit", rows, "-t", "kind", "--model", "gda", "-o", tmp_path / "model")
    assert "sentences" not in found.err
    if found.code:
        assert "decimal commas, such as '0,00'" in hint(found)


def test_rows_that_are_forgotten_twice_are_refused_in_words_of_the_command(
    run: Any, model: Path, flowers: Path
) -> None:
    rows = flowers.read_text().splitlines()
    gone = flowers.with_name("gone.csv")
    gone.write_text("\n".join(rows[:4]) + "\n")
    assert run("forget", model, gone).code == 0
    codes = [run("forget", model, gone) for _ in range(3)]
    found = hint(next(said for said in codes if said.code))
    assert "(a + b) - b" not in found
    assert "forgotten them before" in found
    assert "suffice inspect" in found


@pytest.mark.parametrize("typed", ["dasy", "Daisy", "daisi"])
def test_classes_are_offered_by_their_right_name(
    typed: str, run: Any, model: Path, flowers: Path, tmp_path: Path
) -> None:
    costs = tmp_path / "costs.csv"
    costs.write_text(f"kind,daisy,rose\n{typed},0,1\nrose,1,0\n")
    priors = ("--priors", f"{typed}=.5,rose=.5")
    for arguments in (
        ("explain", model, flowers, "--of", typed),
        ("explain", model, flowers, "--against", typed),
        ("sample", model, "--class", typed),
        ("fit", flowers, "-t", "kind", "--model", "gda", *priors, "-o", tmp_path / "other"),
        ("predict", model, flowers, "--cost", costs),
    ):
        assert "did you mean 'daisy'?" in hint(run(*arguments)), arguments
    assert "did you mean" not in hint(run("sample", model, "--class", "oak"))


def test_commands_do_not_speak_python(run: Any, model: Path, flowers: Path) -> None:
    said = [
        run("compare", flowers, "-t", "kind", "--model", "gad"),
        run("compare", flowers, "-t", "kind", "--with", "sklearn.nothing"),
        run("predict", flowers, flowers),
        run("explain", model, flowers, "--of", "oak"),
        run("fit", flowers, "-t", "kind", "--model", "gda", "--priors", "daisy=2,rose=1"),
    ]
    assert "did you mean 'gda'?" in hint(said[0])
    for one in said:
        assert one.code
        assert not re.search(r"\w\(\)`|\{name|\.astype|clone\(", one.err), one.err


def test_rows_left_undecided_are_not_counted_as_mistakes(run: Any, tmp_path: Path) -> None:
    rows, model = tmp_path / "rows.csv", tmp_path / "model"
    cells = [(i % 8 + 3 * (i % 2), "ab"[i % 2]) for i in range(40)]
    rows.write_text("size,kind\n" + "".join(f"{size},{kind}\n" for size, kind in cells))
    assert run("fit", rows, "-t", "kind", "--model", "gda", "-o", model).code == 0
    every = run("predict", model, rows, "--json")
    said = [line.rpartition(": ")[2].strip('"}') for line in every.rows]
    right = sum(answer == kind for answer, (_, kind) in zip(said, cells, strict=True))
    assert f"{right} of 40 agree with kind ({right / 40:.1%})\n" in every.err
    found = run("predict", model, rows, "--reject-below", "0.8", "--json")
    answers = [line.rpartition(": ")[2].strip('"}') for line in found.rows]
    decided = [(a, kind) for a, (_, kind) in zip(answers, cells, strict=True) if a != "null"]
    assert 0 < len(decided) < 40
    right = sum(answer == kind for answer, kind in decided)
    told = f"{right} of {len(decided)} agree with kind ({right / len(decided):.1%})"
    assert f"{told}; {40 - len(decided)} with a label have no class" in found.err
    none = run("predict", model, rows, "--reject-below", "1")
    assert "0 of 0 agree with kind; 40 with a label have no class" in none.err
