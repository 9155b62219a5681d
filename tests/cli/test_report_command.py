"""`suffice report`: straight from a table to a page."""

from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING, Any

import pytest

from suffice.report import album as albums

if TYPE_CHECKING:
    from pathlib import Path

TABLES = ("penguins", "credit_a", "horse_colic", "tic_tac_toe", "bupa")
"""Strings, blanks, counts, categories alone, and numbers."""


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
    for word in ("flowers.csv", "Which model for kind?", "petals", "scented", "truth", "<svg"):
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
    assert "<svg" not in place.read_text("utf-8")


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
    assert "<script" not in html
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in html
    assert "=cmd()" in html


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
def test_tables_of_every_kind_give_a_page(
    table: str, run: Any, shared: Path, tmp_path: Path
) -> None:
    source = tmp_path / f"{table}.csv"
    with gzip.open(shared / "data" / "tab" / f"{table}.csv.gz", "rt", encoding="utf-8") as file:
        lines = file.read().splitlines()
    source.write_text("\n".join([lines[0], *lines[1::3][:150]]) + "\n")
    place = tmp_path / "page.html"
    done = run("report", source, "-t", "target", "-o", place)
    assert done.code == 0, done.err
    html = place.read_text("utf-8")
    assert "There is no picture" not in html
    assert html.count("<svg") >= 5
    assert len(html.encode()) < 2_000_000
