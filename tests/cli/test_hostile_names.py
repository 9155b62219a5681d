"""Names that would move a cursor, ring, or turn a line round: people see them written out."""

from __future__ import annotations

import csv
import io
import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from suffice.cli.terminal.messages import ProgressLine, legible
from suffice.cli.terminal.printed_rows import json_text
from suffice.tables.csv.cells import number_of
from suffice.tables.csv.inert_cells import FORMULA, inert, plain_text

if TYPE_CHECKING:
    from pathlib import Path

EVIL = {
    "clear": "\x1b[2J\x1b[H",
    "title": "\x1b]0;root\x07",
    "bell": "\x07",
    "c1": "\x9b31m",
    "bidi": "\u202etxt.exe\u202c\u2066x\u2069",
    "return": "\rerror: none",
    "zero": "a\u200bb\ufeff\x7f",
}
HIDDEN = {"0": "\x1b[8m", "1": "\u202e\x07"}
"""Names of classes."""


def is_legible(text: str) -> bool:
    return all(character.isprintable() for character in text.replace("\n", ""))


def table(folder: Path, name: str, evil: str, label: str = "kind") -> Path:
    """Write a table with a hostile name, hostile columns and hostile classes."""
    place = folder / f"{name}{evil.replace('/', '').replace(chr(0), '')}.csv"
    with place.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow([f"size{evil}", f"colour{evil}", f"{label}{evil}"])
        for i in range(24):
            kind = str(i % 2)
            writer.writerow(
                [
                    i % 5 + 3 * (i % 2),
                    f"{'red' if i % 3 else 'blue'}{evil}",
                    f"c{kind}{HIDDEN[kind]}",
                ]
            )
    return place


@pytest.mark.parametrize("kind", EVIL)
def test_no_command_lets_a_name_reach_the_terminal(kind: str, run: Any, tmp_path: Path) -> None:
    evil = EVIL[kind]
    rows, target = table(tmp_path, "rows", evil), f"kind{evil}"
    model, other = tmp_path / f"model{evil}.suffice", tmp_path / f"other{evil}.suffice"
    said = [
        run("fit", rows, "-t", target, "--model", "gda", "-o", model),
        run("fit", rows, "-t", target, "--model", "naive-bayes", "-o", other),
        run("predict", model, rows, "--reject-below", "0.9"),
        run("outliers", model, rows, "--keep", target),
        run("sample", model, "-n", "3", "--class", f"c0{HIDDEN['0']}"),
        run("learn", model, rows),
        run("forget", model, rows),
        run("merge", model, model, "-o", model),
        run("inspect", model),
        run("diff", model, other),
        run("explain", model, rows),
        run("sql", model),
    ]
    assert all(one.code == 0 for one in said[:11]), [one.err for one in said if one.code]
    if kind in ("clear", "bidi"):  # which take long
        say = ("--no-curves", "--folds", "2", "--model", "gda")
        said.append(run("compare", rows, "-t", target, *say))
        page = tmp_path / f"page{evil}.html"
        said.append(run("report", rows, "-t", target, "--no-pictures", "-o", page, "--folds", "2"))
        assert said[-1].code == said[-2].code == 0
    strange = tmp_path / f"gone{evil}.csv"
    refused = [
        run("fit", rows, "-t", f"no{evil}", "--model", "gda", "-o", model),
        run("fit", strange, "-t", target),
        run("fit", rows, "-t", target, "--model", f"x{evil}"),
        run("fit", rows, "-t", target, "--model", "gda", "--priors", f"a{evil}=1"),
        run("fit", rows, "-t", target, "--smoothing", evil, "--model", "naive-bayes"),
        run("predict", model, strange),
        run("predict", model, rows, "--keep", f"no{evil}"),
        run("predict", rows, rows),
        run("predict", model, table(tmp_path, "bare", f"{evil}2")),
        run("explain", model, rows, "--of", f"c7{evil}"),
        run("sample", model, "--class", f"c7{evil}"),
        run("merge", model, other, "-o", tmp_path / "m"),
        run("inspect", rows),
        run(f"no{evil}"),
        run("fit", f"--no{evil}"),
        run("mail", "classify", rows, strange),
        run("learn", model, f"duckdb://{evil}"),
        run("fit", f"nothing{evil}://x", "-t", target),
    ]
    assert all(one.code in (1, 2) for one in refused), [one for one in refused if one.code == 0]
    for one in (*said, *refused):
        assert is_legible(one.err), one.err
    for one in (one for one in said if one.out and one not in said[2:5] and one != said[11]):
        assert is_legible(one.out), one.out


def test_data_in_a_pipe_are_as_they_are(run: Any, tmp_path: Path) -> None:
    rows = table(tmp_path, "rows", EVIL["bidi"])
    model = tmp_path / "model"
    target = f"kind{EVIL['bidi']}"
    assert run("fit", rows, "-t", target, "--model", "gda", "-o", model).code == 0
    found = run("predict", model, rows, "--keep", target)
    told = list(csv.reader(io.StringIO(found.out, newline="")))
    assert told[0] == [target, "prediction"]
    assert {row[1] for row in told[1:]} == {f"c{kind}{end}" for kind, end in HIDDEN.items()}
    assert all(json.loads(line)["prediction"] in {f"c{k}{e}" for k, e in HIDDEN.items()}
               for line in run("predict", model, rows, "--json").rows)  # fmt: skip


@pytest.mark.skipif(os.name != "posix", reason="terminals of POSIX")
@pytest.mark.parametrize("how", [[], ["--json"]])
def test_on_a_terminal_even_data_are_written_out(
    how: list[str], run: Any, environment: dict[str, str], tmp_path: Path
) -> None:
    pty = pytest.importorskip("pty")
    rows, model = table(tmp_path, "rows", EVIL["clear"]), tmp_path / "model"
    target = f"kind{EVIL['clear']}"
    assert run("fit", rows, "-t", target, "--model", "gda", "-o", model).code == 0
    master, slave = pty.openpty()
    command = [sys.executable, "-m", "suffice.cli", "predict", model, rows, *how]
    with subprocess.Popen(
        command, env=environment, stdout=slave, stderr=subprocess.DEVNULL
    ) as process:
        os.close(slave)
        said = b""
        while True:
            try:
                part = os.read(master, 1 << 16)
            except OSError:
                break
            if not part:
                break
            said += part
        assert process.wait() == 0
    os.close(master)
    text = said.decode().replace("\r\n", "\n")
    assert "c0" in text
    assert is_legible(text)


@pytest.mark.parametrize("encoding", ["ascii", "cp1252", "latin-1", "utf-16"])
def test_data_are_utf_8_whatever_the_terminal_speaks(
    encoding: str, run: Any, environment: dict[str, str], tmp_path: Path
) -> None:
    rows, model = tmp_path / "rows.csv", tmp_path / "model"
    lines = [f"{i % 7 + 3 * (i % 2)},{'ärger' if i % 2 else '体重'}" for i in range(20)]
    rows.write_text("größe,класс\n" + "\n".join(lines) + "\n", encoding="utf-8")
    assert run("fit", rows, "-t", "класс", "--model", "gda", "-o", model).code == 0
    for how in ("predict", "sample", "sql"):
        arguments = [model, rows, "--proba"] if how == "predict" else [model]
        done = subprocess.run(
            [sys.executable, "-m", "suffice.cli", how, *arguments],
            check=False, capture_output=True,
            env={**environment, "PYTHONIOENCODING": encoding, "PYTHONUTF8": "0"},
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        text = done.stdout.decode("utf-8")
        assert "ärger" in text
        assert "体重" in text
        assert "?" not in text.partition("\n")[0]


def test_half_of_a_character_is_refused_and_not_replaced(
    run: Any, environment: dict[str, str], tmp_path: Path
) -> None:
    rows, model = tmp_path / "rows.jsonl", tmp_path / "model"
    lines = [json.dumps({"x": i % 7 + 3 * (i % 2), "y": "ab"[i % 2]}) for i in range(20)]
    rows.write_text("\n".join(lines) + "\n")
    assert run("fit", rows, "-t", "y", "--model", "gda", "-o", model).code == 0
    kept = '{"x": 1, "y": "a", "name": "\\ud800"}\n'
    rows.write_text(kept)
    done = subprocess.run(
        [sys.executable, "-m", "suffice.cli", "predict", model, rows, "--keep", "name"],
        env=environment, check=False, capture_output=True,
    )  # fmt: skip
    assert b"?" not in done.stdout
    if done.returncode:
        assert done.returncode == 1
        assert b"Traceback" not in done.stderr


def test_a_name_of_a_million_characters_is_shortened_for_people_and_whole_in_data(
    run: Any, tmp_path: Path
) -> None:
    long = "x" * 10**6
    rows, model = tmp_path / "rows.csv", tmp_path / "model"
    lines = [f"{i % 7 + 3 * (i % 2)},{'a' if i % 2 else long}" for i in range(20)]
    rows.write_text("size,kind\n" + "\n".join(lines) + "\n")
    assert run("fit", rows, "-t", "kind", "--model", "gda", "-o", model).code == 0
    for arguments in (
        ("explain", model, rows), ("inspect", model), ("diff", model, model),
        ("explain", model, rows, "--of", "b"), ("learn", model, rows),
        ("sample", model, "--class", "q"),
        ("explain", model, rows, "--of", "b" * 10**6),
    ):  # fmt: skip
        found = run(*arguments)
        assert len(found.out) + len(found.err) < 20_000, arguments
    assert long in run("predict", model, rows).out.splitlines()


@given(st.text(max_size=2000))
def test_legible_text_is_one_line_that_moves_nothing(text: str) -> None:
    found = legible(text)
    assert found.isprintable()
    assert len(found) <= 10 * 1000
    if text.isprintable() and len(text) <= 1000:
        assert found == text


@given(st.recursive(st.text() | st.integers(), st.lists, max_leaves=5))
def test_json_for_a_terminal_means_the_same(content: Any) -> None:
    found = json_text(content, terminal=True)
    assert is_legible(found)
    assert json.loads(found) == json.loads(json_text(content))


SIGNS = st.sampled_from(
    [*FORMULA, "＝", "＋", "－", "＠", "﹦", "﹣", "'", " ", "\t", "\r", "\n", "\u200b", "\ufeff"]
)


@given(st.text(st.one_of(SIGNS, st.characters()), max_size=6))
def test_inert_cells_come_back_as_they_were(text: str) -> None:
    assert plain_text(inert(text)) == text


@pytest.mark.parametrize(
    "before", ["", " ", "\t", "\r", "\n", "\u00a0", "\u200b", "\ufeff", "  \n"]
)
@pytest.mark.parametrize("sign", ["=", "+", "-", "@", "＝", "＋", "－", "＠", "﹦"])
def test_what_a_spreadsheet_takes_for_a_formula_is_made_inert(before: str, sign: str) -> None:
    text = f"{before}{sign}HYPERLINK(1)"
    assert inert(text) == f"'{text}"
    assert inert(f"'{text}") == f"''{text}"


def test_numbers_and_words_stay_bare() -> None:
    for text in ("-1.5", "+3", "=", "rose", "'tis", "a=b", "１２", " x", "-", ""):
        assert inert(text) == text, text
    assert number_of("-1.5") is not None


def test_progress_shows_legible_names(monkeypatch: pytest.MonkeyPatch) -> None:
    progress = ProgressLine(f"reading {EVIL['clear']}")
    assert is_legible(progress._line(1e9))


def test_a_terminal_that_does_not_say_how_wide_it_is_gets_whole_lines(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A width of 0 is not known, and not that of one letter."""
    from suffice.cli.terminal import messages as remarks

    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

        def fileno(self) -> int:
            return 2

    monkeypatch.delenv("COLUMNS", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(os, "get_terminal_size", lambda *_: os.terminal_size((0, 0)))
    monkeypatch.setattr(remarks, "PATIENCE", 0.0)
    monkeypatch.setattr(sys, "stderr", Terminal())
    with ProgressLine("reading flowers.csv") as progress:
        progress.more(1000)
    assert "reading flowers.csv 1,000 rows" in sys.stderr.getvalue()


def test_progress_says_no_more_than_it_knows(
    run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A share is that of rows: the bytes of a file are read long before them."""
    from suffice.tables import table_file as tables
    from suffice.training import training_rows

    rows = tmp_path / "rows.csv"
    lines = [f"{i % 7 + 3 * (i % 2)}.25,{'ab'[i % 2]}" for i in range(3000)]
    rows.write_text("size,kind\n" + "\n".join(lines) + "\n")
    monkeypatch.setattr(training_rows, "IN_MEMORY", 100)
    monkeypatch.setattr(tables, "MOST_ROWS", 100)
    seen: list[tuple[str, int, float | None]] = []
    more = ProgressLine.more

    def heard(self: ProgressLine, count: int) -> None:
        more(self, count)
        seen.append((self._what, self.rows, self._share()))

    monkeypatch.setattr(ProgressLine, "more", heard)
    for arguments in (
        ("fit", rows, "-t", "kind", "--model", "gda", "-o", tmp_path / "model"),
        ("predict", tmp_path / "model", rows),
    ):
        assert run(*arguments).code == 0
    assert {what.partition(" ")[0] for what, _, _ in seen} >= {"looking", "learning", "reading"}
    shares = [(count, share) for _, count, share in seen if share is not None]
    assert shares
    assert all(share == pytest.approx(count / 3000) for count, share in shares)
