"""Whatever is wrong is said in one line, with a place and a hint; nothing is lost."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import suffice

if TYPE_CHECKING:
    from collections.abc import Callable


def refused(done: Any, *words: str) -> None:
    """Check that a command was refused in two lines that hold these words."""
    assert done.code == 1, done
    first, hint, *rest = [
        line for line in done.err.splitlines() if not line.startswith(("note:", "warning:"))
    ]
    assert not rest, done.err
    assert first.startswith("error: ")
    assert hint.startswith("Hint: ")
    assert not done.out
    for word in words:
        assert word in done.err, done.err


BAD_TABLES: dict[str, tuple[bytes, tuple[str, ...]]] = {
    "empty": (b"", ("is empty",)),
    "nothing but blank lines": (b"\n\n \n", ("is empty",)),
    "a header alone": (b"a,y\n", ("has no rows",)),
    "ragged": (b"a,b,y\n1,2,x\n1,2\n", ("line 3: 2 cell(s) where the header names 3",)),
    "ragged after a quoted newline": (
        b'a,b,y\n1,"p\nq",x\n1,2,x,9\n',
        ("line 4: 4 cell(s) where the header names 3", "quote cells that contain a comma"),
    ),
    "an open quotation mark": (b'a,y\n"1,x\n2,z\n', ("line",)),
    "a name twice": (b"a,a,y\n1,2,x\n3,4,z\n", ("more than one column is named a",)),
    "one column": (b"y\nx\nz\n", ("has no column besides the target",)),
    "an infinite cell": (b"a,y\n1,x\ninf,x\n2,z\n3,z\n", ("line 3, a: inf is not a finite",)),
    "bytes that are no text": (b"a,y\n1,\xe9\x81\n2,z\n", ("0xe9 is not utf-8", "--encoding")),
    "a picture": (b"\x89PNG\r\n\x1a\n\0\0\0", ("is not a table format",)),
    "a spreadsheet": (b"PK\x03\x04rest", ("a damaged zip file",)),
    "a JSON array": (b'{"a": 1\n{"a": 2}\n', ("line 1",)),
    "nested JSON": (b'{"a": [1], "y": "x"}\n', ("line 1, a: a list is not a cell",)),
    "a damaged Parquet file": (b"PAR1 and nothing else", ("cannot be read",)),
    "one class": (b"a,y\n1,x\n2,x\n", ("has one value, x",)),
    "no labels": (b"a,y\n1,\n2,\n", ("target 'y': none of 2 rows has a label", "right column?")),
    "a quantity": (b"a,y\n1,0.5\n2,1.5\n3,2.25\n", ("is a quantity: 3 different numbers",)),
    "numbers of rows": (
        b"a,y\n" + b"".join(b"%d,%d\n" % (i % 3, i) for i in range(60)),
        ("row number: 60 different whole numbers in 60 rows",),
    ),
}


@pytest.mark.parametrize("name", BAD_TABLES)
def test_a_table_that_cannot_be_learned_is_refused_in_words(
    name: str, run: Any, tmp_path: Path
) -> None:
    content, words = BAD_TABLES[name]
    table, out = tmp_path / "bad.csv", tmp_path / "m.suffice"
    table.write_bytes(content)
    refused(run("fit", table, "-t", "y", "--model", "gda", "-o", out), "bad.csv", *words)
    assert not out.exists()


def test_missing_files_and_folders_are_refused(run: Any, flowers: Path, tmp_path: Path) -> None:
    out = tmp_path / "m.suffice"
    refused(run("fit", tmp_path / "no.csv", "-t", "y", "-o", out), "no.csv: no such file")
    refused(run("fit", tmp_path, "-t", "y", "-o", out), "is a folder")
    refused(run("predict", tmp_path / "no.suffice", flowers), "no.suffice", "no such file")
    refused(run("predict", flowers, flowers), "is not a model file")
    nowhere = tmp_path / "nowhere" / "m.suffice"
    refused(
        run("fit", flowers, "-t", "kind", "--model", "gda", "-o", nowhere), "no such file or dir"
    )
    refused(run("fit", flowers, "-t", "kind", "--model", "gda", "-o", tmp_path), "is a directory")


def test_a_typo_is_answered_with_the_nearest_names(run: Any, flowers: Path) -> None:
    refused(run("fit", flowers, "-t", "kimd"), "has no column 'kimd'", "did you mean 'kind'?")
    refused(run("fit", flowers, "-t", "zzz"), "it has size, colour, petals, scented, kind")
    refused(run("fit", flowers, "-t", "kind", "--drop", "colours"), "did you mean 'colour'?")


@pytest.mark.parametrize("model", ["gda", "naive-bayes", "logistic"])
def test_columns_are_found_by_name_and_missing_ones_are_named(
    model: str, run: Any, fitted: Callable[..., Path], flowers: Path, tmp_path: Path
) -> None:
    path = fitted(flowers, "kind", model)
    expected = run("predict", path, flowers).out
    lines = [line.split(",") for line in flowers.read_text().splitlines()]
    turned = tmp_path / "turned.csv"
    turned.write_text("".join(",".join([*row[:4][::-1], "9"]) + "\n" for row in lines))
    text = turned.read_text().replace("size,9\n", "size,extra\n", 1)
    turned.write_text(text)
    done = run("predict", path, turned)
    assert done.out == expected
    assert "note: not used by the model: extra" in done.err
    turned.write_text(text.replace("colour", "color", 1))
    refused(run("predict", path, turned), "has no column 'colour'", "did you mean 'color'?")


def test_text_among_numbers_is_refused_by_its_line_after_the_fit(
    run: Any, fitted: Callable[..., Path], flowers: Path, tmp_path: Path
) -> None:
    path = fitted(flowers, "kind", "gda")
    more = tmp_path / "more.csv"
    more.write_text("size,colour,petals,scented,kind\n1,red,5,true,rose\nbig,red,5,true,rose\n")
    before = path.read_bytes()
    for done in (run("predict", path, more), run("learn", path, more)):
        refused(done, "more.csv, line 3, size: 'big' is not a number")
    more.write_text("size,colour,petals,scented,kind\n1,red,5,maybe,rose\n")
    refused(run("learn", path, more), "line 2, scented: 'maybe' is not true or false")
    assert path.read_bytes() == before


def test_a_column_that_turns_to_text_in_the_last_row_was_text_from_the_first(
    run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table, out = tmp_path / "late.csv", tmp_path / "m.suffice"
    rows = [f"{i % 5},{i % 7},{'xz'[i % 2]}\n" for i in range(40)]
    table.write_text("a,b,y\n" + "".join(rows) + "many,1,x\n")
    monkeypatch.setattr("suffice.tables.table_file.CELLS", 12)
    assert run("fit", table, "-t", "y", "--model", "gda", "-o", out).code == 0
    kinds = [column.kind for column in suffice.load(out).schema.columns]
    assert kinds == ["category", "number"]


def test_a_table_larger_than_memory_is_learned_in_chunks(
    run: Any, measurements: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, parts = tmp_path / "whole.suffice", tmp_path / "parts.suffice"
    arguments = ("fit", measurements, "-t", "class", "--model", "qda", "-o")
    assert run(*arguments, whole).code == 0
    monkeypatch.setattr("suffice.tables.table_file.CELLS", 200)
    monkeypatch.setattr("suffice.training.training_rows.IN_MEMORY", 250)
    lines = measurements.read_text().splitlines()
    measurements.write_text("\n".join([lines[0], *lines[1:][::7], *lines[1:][::-1]]) + "\n")
    assert run(*arguments, parts).code == 0
    rows = [suffice.load(path).model_.weights.sum() for path in (whole, parts)]
    assert rows[1] == rows[0] + len(lines[1:][::7])
    done = run(*arguments[:-2], "logistic", "-o", parts)
    assert done.code == 0, done.err
    assert f"{rows[1]:.0f} rows" in done.err


@pytest.mark.parametrize("model", ["gda", "qda", "naive-bayes --families gaussian"])
def test_a_large_table_may_be_sorted_by_class(
    model: str, run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table, out = tmp_path / "sorted.csv", tmp_path / "m.suffice"
    lines = [f"{(i * 7) % 11 + 5 * (i // 100)},{i % 3},{'xz'[i // 100]}" for i in range(200)]
    table.write_text("\n".join(["a,b,y", *lines]) + "\n")
    arguments = ("fit", table, "-t", "y", "-o", out, "--model")
    assert run(*arguments, *model.split()).code == 0
    whole = run("predict", out, table, "--proba").out
    monkeypatch.setattr("suffice.tables.table_file.CELLS", 60)
    monkeypatch.setattr("suffice.training.training_rows.IN_MEMORY", 80)
    done = run(*arguments, *model.split())
    assert (done.code, "warning" in done.err) == (0, False), done.err
    assert run("predict", out, table, "--proba").out == whole
    done = run(*arguments, "auto")
    assert done.code == 0, done.err
    assert "rows, drawn at random" in done.err  # from all over the file
    table.write_text("\n".join(["a,b,y", *lines[:100]]) + "\n")
    refused(run(*arguments, *model.split()), "has one value, x")


def test_columns_that_name_rows_are_left_out_with_a_word(run: Any, tmp_path: Path) -> None:
    table, out = tmp_path / "names.csv", tmp_path / "m.suffice"
    table.write_text(
        "name,a,y\n" + "".join(f"person {i},{i % 5},{'xz'[i % 2]}\n" for i in range(60))
    )
    done = run("fit", table, "-t", "y", "--model", "gda", "-o", out)
    assert "note: name is left out: 60 different values in 60 rows" in done.err
    again = run("predict", out, table)
    assert again.code == 0
    assert "name" not in again.err


def test_rows_without_a_label_are_left_out_with_a_word(run: Any, tmp_path: Path) -> None:
    table, out = tmp_path / "some.csv", tmp_path / "m.suffice"
    table.write_text("a,y\n" + "1,x\n2,x\n3,z\n5,z\n" * 3 + "7,\n8, \n")
    done = run("fit", table, "-t", "y", "--model", "gda", "-o", out)
    assert done.code == 0
    assert "note: 2 rows without a label left out" in done.err
    assert suffice.load(out).model_.weights.sum() == 12


@pytest.mark.parametrize(
    "content",
    [
        b"\xef\xbb\xbfa,b,y\r\n1,2,x\r\n2,1,z\r\n3,4,x\r\n1,1,z\r\n",
        b"a;b;y\n1;2;x\n2;1;z\n3;4;x\n1;1;z\n",
        b"a\tb\ty\n1\t2\tx\n2\t1\tz\n3\t4\tx\n1\t1\tz\n",
        b"a, b, y\n1, 2, x\n2, 1, z\n3, 4, x\n1, 1, z\n",
        gzip.compress(b'a,b,"y"\n1,2,"x"\n\n2,1,z\n3,4,x\n1,1,z\n'),
        "a,b,y\n1,2,x\n2,1,z\n3,4,x\n1,1,z\n".encode("utf-16"),
        b'{"a":1,"b":2,"y":"x"}\n{"a":2,"b":1,"y":"z"}\n{"a":3,"b":4,"y":"x"}\n{"a":1,"b":1,"y":"z"}\n',
    ],
    ids=["mark", "semicolons", "tabs", "spaces", "packed", "utf-16", "json"],
)
def test_tables_in_other_clothes_are_read(content: bytes, run: Any, tmp_path: Path) -> None:
    table, out = tmp_path / "table", tmp_path / "m.suffice"
    table.write_bytes(content)
    done = run("fit", table, "-t", "y", "--model", "naive-bayes", "-o", out)
    assert done.code == 0, done.err
    assert "4 rows, 2 numeric columns; 2 classes of y" in done.err


def test_ten_thousand_columns_are_read(run: Any, tmp_path: Path) -> None:
    table, out = tmp_path / "wide.csv", tmp_path / "m.suffice"
    width = 10_000
    lines = [",".join([*(f"c{j}" for j in range(width)), "y"])]
    lines += [",".join([*(str((i * j) % 7) for j in range(width)), "xz"[i % 2]]) for i in range(6)]
    table.write_text("\n".join(lines) + "\n")
    done = run("fit", table, "-t", "y", "--model", "naive-bayes", "-o", out)
    assert done.code == 0, done.err
    assert len(run("predict", out, table).rows) == 7
    refused(
        run("fit", table, "-t", "y", "--model", "gda", "-o", out),
        "needs the covariance of 10,000 columns",
    )


def test_cells_that_look_like_formulas_come_out_inert_and_go_in_again(
    run: Any, tmp_path: Path
) -> None:
    table, out = tmp_path / "hostile.csv", tmp_path / "m.suffice"
    cells = ["=cmd()", "+1+1", "-x", "@sum", "<script>", "plain"]
    lines = [f"{cells[i % 6]},{i % 5},{['=evil', '-'][i % 2]}\n" for i in range(60)]
    table.write_text("=a,b,y\n" + "".join(lines))
    assert run("fit", table, "-t", "y", "--model", "naive-bayes", "-o", out).code == 0
    drawn = run("sample", out, "-n", 200).out
    assert drawn.startswith("'=a,b,y\n")
    for line in drawn.splitlines():
        for cell in line.split(","):
            assert cell == "-" or cell[0] not in "=+@\t", cell
    again = tmp_path / "drawn.csv"
    again.write_text(drawn)
    done = run("learn", out, again)
    assert done.code == 0, done.err
    assert "new" not in done.err
    assert set(suffice.load(out).classes_) == {"=evil", "-"}


def test_wrong_usage_ends_with_two(run: Any, flowers: Path) -> None:
    for arguments in (
        ("fit", flowers),
        ("guess",),
        ("predict", "m.suffice"),
        ("predict", "m", flowers, "--reject-below", "2"),
        ("merge", "one.suffice", "-o", "two.suffice"),
        ("fit", flowers, "-t", "kind", "--delimiter", "ab"),
    ):
        done = run(*arguments)
        assert done.code == 2, arguments
        assert done.err.startswith("error: ")
        assert "Hint: see suffice" in done.err


def test_a_model_is_no_table_and_a_table_is_no_model(
    run: Any, fitted: Callable[..., Path], flowers: Path, tmp_path: Path
) -> None:
    model, out = fitted(flowers, "kind", "gda"), tmp_path / "out.suffice"
    before = model.read_bytes()
    for command in (
        ("predict", model, model),
        ("learn", model, model),
        ("fit", model, "-t", "kind", "-o", out),
    ):
        refused(run(*command), model.name)
    for command in (
        ("predict", flowers, flowers),
        ("explain", flowers, flowers),
        ("sample", flowers),
        ("outliers", flowers, flowers),
        ("learn", flowers, flowers),
        ("forget", flowers, flowers),
        ("merge", model, flowers, "-o", out),
        ("inspect", flowers),
        ("diff", model, flowers),
    ):
        refused(run(*command), "flowers.csv is not a model file")
    assert model.read_bytes() == before
    assert not out.exists()


def test_models_of_different_columns_are_not_merged(
    run: Any, fitted: Callable[..., Path], flowers: Path, tmp_path: Path
) -> None:
    other = tmp_path / "other.csv"
    other.write_text(flowers.read_text().replace("petals", "leaves", 1))
    out = tmp_path / "out.suffice"
    for model in ("gda", "naive-bayes"):
        pair = [fitted(table, "kind", model) for table in (flowers, other)]
        refused(run("merge", *pair, "-o", out), "petals", "leaves")
    assert not out.exists()


@pytest.mark.parametrize("model", ["gda", "qda", "naive-bayes"])
def test_rows_that_cannot_have_been_learned_are_not_forgotten(
    model: str, run: Any, fitted: Callable[..., Path], flowers: Path, tmp_path: Path
) -> None:
    path = fitted(flowers, "kind", model)
    before = path.read_bytes()
    strange = tmp_path / "strange.csv"
    for rows in (
        "1.5,red,5,true,tulip\n",
        "1.5,violet,5,true,rose\n",
        "1.5,red,5,true,rose\n" * 6,
        "900,red,5,true,rose\n900,red,5,true,rose\n",
    ):
        strange.write_text("size,colour,petals,scented,kind\n" + rows)
        refused(run("forget", path, strange))
        assert path.read_bytes() == before


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
@pytest.mark.parametrize("command", ["predict", "sample", "outliers", "inspect", "explain"])
def test_answers_that_cannot_be_written_are_a_refusal(
    command: str, shell: Any, fitted: Callable[..., Path], measurements: Path
) -> None:
    path = fitted(measurements, "class", "gda")
    table = {"sample": "", "inspect": ""}.get(command, measurements)
    done = shell(f"suffice {command} {path} {table} > /dev/full")
    assert done.code == 1, done.err
    assert "no space left on device" in done.err.lower()
    assert "Hint: " in done.err
    assert "Traceback" not in done.err
    assert "Exception ignored" not in done.err


def test_a_model_that_cannot_be_written_leaves_the_old_one(
    shell: Any, fitted: Callable[..., Path], measurements: Path
) -> None:
    path = fitted(measurements, "class", "gda")
    before = path.read_bytes()
    # A limit on the size of files, which the system refuses to go beyond as it does on a full disk.
    for command in (f"learn {path} {measurements}", f"merge {path} {path} -o {path}"):
        done = shell(f"ulimit -f 1; trap '' XFSZ; suffice {command}")
        assert done.code == 1, done
        assert "Hint: " in done.err
        assert "Traceback" not in done.err
        assert path.read_bytes() == before
        assert {one.name for one in path.parent.iterdir()} == {path.name, measurements.name}


def test_a_continuous_target_and_a_single_value_come_with_a_hint(run: Any, tmp_path: Path) -> None:
    table = tmp_path / "t.csv"
    table.write_text("a,y\n" + "".join(f"{i},{i / 7:.3f}\n" for i in range(30)))
    refused(run("fit", table, "-t", "y"), "is a quantity: 30 different numbers", "bins")
    table.write_text("a,y\n1,x\n2,x\n3,\n")
    refused(run("fit", table, "-t", "y"), "has one value, x", "two classes or more")


@pytest.mark.parametrize("command", ["predict", "explain", "outliers", "learn", "forget"])
def test_a_law_without_classes_has_nothing_to_say_about_them(
    command: str, run: Any, measurements: Path, tmp_path: Path
) -> None:
    place = tmp_path / "law.suffice"
    suffice.MultivariateNormal([0.0, 0.0], [[1.0, 0.2], [0.2, 1.0]]).save(place)
    done = run(command, place, measurements)
    assert done.code == 1
    assert done.err.splitlines()[0] == (
        f"error: {place} is a MultivariateNormal, a distribution of rows without classes"
    )
    assert run("inspect", place).code == 0
