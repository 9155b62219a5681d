"""Tables that are not UTF-8 at the command line: one note, and the same answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from suffice.cli import main

if TYPE_CHECKING:
    from pathlib import Path

    Said = pytest.CaptureFixture[str]

ROWS = "größe,ort,y\n" + "".join(
    f"{i % 7},{('Köln', 'Zürich', 'Rom')[i % 3]},{'ab'[i % 2]}\n" for i in range(60)
)


@pytest.mark.slow
def test_every_command_reads_other_encodings_with_one_note(tmp_path: Path, capsys: Said) -> None:
    plain, table, model = (tmp_path / name for name in ("plain.csv", "latin.csv", "a.suffice"))
    plain.write_bytes(ROWS.encode())
    table.write_bytes(ROWS.encode("latin-1"))
    for command in (
        ["fit", "TABLE", "-t", "y", "--model", "naive-bayes", "-o", str(model), "--force"],
        ["predict", str(model), "TABLE"],
        ["learn", str(model), "TABLE"],
        ["forget", str(model), "TABLE"],
        ["compare", "TABLE", "-t", "y", "--model", "naive-bayes"],
        ["report", "TABLE", "-t", "y", "-o", str(tmp_path / "r.html"), "--no-pictures", "--force"],
    ):
        for path, more, notes in ((plain, [], 0), (table, [], 1), (table, ["latin-1"], 0)):
            named = [str(path) if word == "TABLE" else word for word in command]
            assert main([*named, *(["--encoding", *more] if more else [])]) == 0
            said = capsys.readouterr().err
            told = [line for line in said.splitlines() if "is read as Windows-1252" in line]
            assert len(told) == notes, (command, said)
            if told:
                assert "'größe' in line 1; --encoding names another" in told[0].replace("=", "")


def test_an_encoding_that_does_not_fit_is_refused(tmp_path: Path, capsys: Said) -> None:
    table = tmp_path / "latin.csv"
    table.write_bytes(ROWS.encode("latin-1"))
    for name, problem in (
        ("utf-8", "line 1: the byte 0xf6 is not utf-8"),
        ("x", "not a known text encoding"),
    ):
        model = tmp_path / "a.suffice"
        assert main(["fit", str(table), "-t", "y", "-o", str(model), "--encoding", name]) == 1
        assert problem in capsys.readouterr().err
        assert not model.exists()


def test_json_lines_in_utf_16_are_those_of_utf_8(tmp_path: Path) -> None:
    lines = "".join(f'{{"größe": {i % 7 + i % 2}, "y": "{"äb"[i % 2]}"}}\n' for i in range(40))
    models = []
    for encoding in ("utf-8", "utf-16"):
        table, model = tmp_path / f"{encoding}.jsonl", tmp_path / f"{encoding}.suffice"
        table.write_bytes(lines.encode(encoding))
        assert main(["fit", str(table), "-t", "y", "--model", "gda", "-o", str(model)]) == 0
        models.append(model.read_bytes())
    assert models[0] == models[1]
