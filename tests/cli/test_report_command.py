"""`suffice report`: straight from a table to a page."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from suffice.report import figures as albums

if TYPE_CHECKING:
    from pathlib import Path

TABLES = ("penguins", "credit_a", "horse_colic", "sick", "tic_tac_toe", "bupa")
"""Strings, blanks, a column of nothing else, counts, categories alone, and numbers."""


@pytest.fixture
def measurements(measurements: Path) -> Path:
    """Return some of the rows: how well models do with all of them is not asked here."""
    header, *rows = measurements.read_text().splitlines()
    measurements.write_text("\n".join([header, *rows[::5]]) + "\n")
    return measurements


def test_a_table_of_words_blanks_counts_and_truths_becomes_a_page(
    run: Any, flowers: Path, tmp_path: Path
) -> None:
    place = tmp_path / "flowers.html"
    done = run("report", flowers, "--target", "kind", "-o", place)
    assert done.code == 0, done.err
    assert done.out.startswith("Use ")
    assert f"{place}: a page of " in done.err
    html = place.read_text("utf-8")
    assert html.startswith("<!DOCTYPE html>")
    for word in ("flowers.csv", "Which model for kind?", "petals", "scented", "yes/no", "<svg"):
        assert word in html
    assert {path.name for path in tmp_path.iterdir()} == {"flowers.csv", "flowers.html"}


def test_what_is_recommended_can_be_read_by_programs(
    run: Any, measurements: Path, tmp_path: Path
) -> None:
    place = tmp_path / "page.html"
    done = run("report", measurements, "-t", "class", "-o", place, "--no-pictures", "--json")
    said = json.loads(done.out)
    assert said["page"] == str(place)
    assert said["recommended"] in {model["model"] for model in said["models"]}
    assert all(0.0 <= model["accuracy"] <= 1.0 for model in said["models"])
    assert "<figure" not in place.read_text("utf-8")


def test_what_is_on_the_page_can_be_read_by_programs(
    run: Any, flowers: Path, tmp_path: Path
) -> None:
    done = run(
        "report", flowers, "-t", "kind", "-o", tmp_path / "page.html", "--no-pictures", "--json"
    )
    said = json.loads(done.out)
    assert said["classes"] == [{"class": "daisy", "rows": 5}, {"class": "rose", "rows": 5}]
    assert {one["name"]: one["blank"] for one in said["columns"]} == {
        "size": 1, "colour": 2, "petals": 0, "scented": 0,
    }  # fmt: skip
    assert sum(map(sum, said["confusion"])) == said["rows"] == 10
    assert {"curves", "crossings", "diagnostics", "worries", "notes"} <= set(said)


def test_the_page_can_go_down_a_pipe(run: Any, measurements: Path, tmp_path: Path) -> None:
    done = run("report", measurements, "-t", "class", "-o", "-", "--no-pictures")
    assert done.code == 0
    assert done.out.startswith("<!DOCTYPE html>")
    assert done.out.endswith("</html>\n")
    assert done.err == ""
    assert list(tmp_path.iterdir()) == [measurements]
    done = run("report", measurements, "-t", "class", "-o", "-", "--json")
    assert done.code == 2
    assert done.out == ""
    assert "standard output" in done.err


def test_a_page_does_not_say_in_which_folder_the_table_was(
    run: Any, measurements: Path, tmp_path: Path
) -> None:
    place = tmp_path / "page.html"
    run("report", measurements, "-t", "class", "-o", place, "--no-pictures")
    html = place.read_text("utf-8")
    assert "<bdi>measurements.csv</bdi>" in html
    assert str(tmp_path) not in html


@pytest.mark.parametrize("moment", ["suffice.evaluation.compare", "os.fsync"])
def test_an_interrupted_report_leaves_the_page_that_was_there(
    moment: str, run: Any, measurements: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    place = tmp_path / "page.html"
    place.write_text("what was there")
    monkeypatch.setattr(moment, interrupted)
    done = run("report", measurements, "-t", "class", "-o", place, "--no-pictures", "--force")
    assert done.code == 130
    assert done.out == ""
    assert place.read_text() == "what was there"
    assert {path.name for path in tmp_path.iterdir()} == {"measurements.csv", "page.html"}


def test_whoever_waits_at_a_terminal_is_told_what_is_done(
    run: Any, measurements: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    arguments = ("report", measurements, "-t", "class", "--no-pictures", "-o", tmp_path / "a.html")
    assert "comparing" not in run(*arguments).err
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    told = run(*arguments).err
    assert "comparing models on 24 rows …" in told
    assert told.index("drawing …") < told.index("\r\033[K" + str(tmp_path))


def test_the_name_of_a_file_comes_out_inert(run: Any, measurements: Path, tmp_path: Path) -> None:
    table = tmp_path / "<img src=x onerror=alert(1)>&lt;.csv"
    table.write_bytes(measurements.read_bytes())
    place = tmp_path / "page.html"
    assert run("report", table, "-t", "class", "-o", place, "--no-pictures").code == 0
    html = place.read_text("utf-8")
    assert "<img" not in html
    assert "<bdi>&lt;img src=x onerror=alert(1)&gt;&amp;lt;.csv</bdi>" in html


def test_where_matplotlib_cannot_be_imported_the_page_is_written(
    environment: dict[str, str], measurements: Path, tmp_path: Path
) -> None:
    place = tmp_path / "page.html"
    program = f"""
import sys
class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "matplotlib":
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
sys.meta_path.insert(0, Missing())
from suffice.cli import main
sys.exit(main(["report", {str(measurements)!r}, "-t", "class", "-o", {str(place)!r}]))
"""
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "pip install 'suffice[plots]'" in done.stderr
    html = place.read_text("utf-8")
    assert "matplotlib is not installed" in html
    assert "<figure" not in html


def test_a_column_can_be_left_out_and_the_page_named(
    run: Any, measurements: Path, tmp_path: Path
) -> None:
    place = tmp_path / "page.html"
    run(
        "report", measurements, "-t", "class", "-o", place, "--no-pictures", "--drop", "b",
        "--title", "A <b>name</b>",
    )  # fmt: skip
    html = place.read_text("utf-8")
    assert "<bdi>a</bdi>" in html
    assert "<bdi>b</bdi>" not in html
    assert "<title>A &lt;b&gt;name&lt;/b&gt;</title>" in html


def test_names_and_cells_of_a_table_come_out_inert(run: Any, tmp_path: Path) -> None:
    table = tmp_path / "hostile.csv"
    cells = ["<script>alert(1)</script>", "=cmd()"]
    lines = ["<script>x</script>,=1+1,y"]
    lines += [f"{i % 7},{cells[i % 3 == 0]},{cells[i % 2]}" for i in range(60)]
    table.write_text("\n".join(lines) + "\n")
    place = tmp_path / "page.html"
    assert run("report", table, "-t", "y", "-o", place).code == 0
    html = place.read_text("utf-8")
    assert "<script>x" not in html
    assert "<script>alert" not in html
    assert html.count("<script>") == 1  # its own
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in html
    assert "=cmd()" in html
    assert run("report", table, "-t", "y", "-o", place, "--still").code == 0
    assert "<script" not in place.read_text("utf-8")


def test_without_matplotlib_the_page_is_written_and_a_hint_given(
    run: Any, measurements: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(albums, "find_spec", lambda _: None)
    place = tmp_path / "page.html"
    done = run("report", measurements, "-t", "class", "-o", place)
    assert done.code == 0
    assert "pip install 'suffice[plots]'" in done.err
    assert place.exists()


def test_a_place_that_cannot_be_written_is_refused_before_any_work(
    run: Any, measurements: Path, tmp_path: Path
) -> None:
    done = run("report", measurements, "-t", "class", "-o", tmp_path / "nowhere" / "page.html")
    assert done.code == 1
    assert "page.html: no such file or directory" in done.err
    done = run("report", measurements, "-t", "class", "-o", tmp_path)
    assert done.code == 1
    assert "is a directory" in done.err


def test_a_target_that_is_not_there_or_no_class_is_one_line(
    run: Any, measurements: Path, tmp_path: Path
) -> None:
    for target, words in (("klass", "has no column 'klass'"), ("a", "is a quantity")):
        done = run("report", measurements, "-t", target, "-o", tmp_path / "page.html")
        assert done.code == 1
        assert words in done.err
        assert len(done.err.splitlines()) == 2
    assert not (tmp_path / "page.html").exists()


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.slow
def test_tables_of_every_kind_give_a_page(
    table: str, run: Any, shared: Path, tmp_path: Path
) -> None:
    source = tmp_path / f"{table}.csv"
    with gzip.open(shared / "data" / "tab" / f"{table}.csv.gz", "rt", encoding="utf-8") as file:
        lines = file.read().splitlines()
    some = lines[1 :: len(lines) // 150]  # from all over the table: some are sorted by class
    source.write_text("\n".join([lines[0], *some]) + "\n")
    place = tmp_path / "page.html"
    done = run("report", source, "-t", "target", "-o", place)
    assert done.code == 0, done.err
    html = place.read_text("utf-8")
    assert "There is no picture" not in html
    assert html.count("<svg") >= 5
    assert len(html.encode()) < 2_000_000
