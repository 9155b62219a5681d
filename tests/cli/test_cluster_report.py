"""`suffice report --clusters`: a page about clusters, of the rows that are given."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np
import pytest

from tests.cli.test_cluster_command import cells, lines

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.cli.conftest import Run


@pytest.fixture
def file(tmp_path: Path, run: Callable[..., Run]) -> Path:
    table, place = tmp_path / "rows.csv", tmp_path / "m.suffice"
    table.write_text(lines(cells()), "utf-8")
    assert run("cluster", table, "-k", "1-2", "--covariance", "EEE", "-o", place).code == 0
    return place


def test_the_page_counts_the_rows_that_it_is_given(
    file: Path, run: Callable[..., Run], tmp_path: Path
) -> None:
    new, page = tmp_path / "new.csv", tmp_path / "page.html"
    rows = cells(1)[20:]  # ten of the first cluster, twenty of the second
    rows[0] = np.nan
    new.write_text(lines(rows), "utf-8")
    done = run("report", new, "--clusters", file, "-o", page, "--json")
    assert done.code == 0, done.err
    assert "1 blank row is left out" in done.err
    said = json.loads(done.out)
    assert [one["rows"] for one in said["clusters"]] == [9, 20]
    html = page.read_text("utf-8")
    assert html.startswith("<!DOCTYPE html>")
    assert "2 clusters in 29 rows of 3 numeric columns" in html
    assert "height is lower" in html
    assert "new.csv" in html
    assert str(tmp_path) not in html
    assert "<script" not in html
    assert html.count("<svg") == 2  # the pair that sets them apart, and BIC by number
    again = run("report", new, "--clusters", file, "-o", page, "--no-pictures", "--title", "a & b")
    assert again.code == 0, again.err
    assert again.rows[0] == "2 clusters in 29 rows of 3 numeric columns"
    html = page.read_text("utf-8")
    assert "<svg" not in html
    assert "a &amp; b" in html


def test_classes_over_columns_of_every_kind_have_a_page(
    run: Callable[..., Run], tmp_path: Path
) -> None:
    rng = np.random.default_rng(0)
    kinds = rng.integers(0, 2, 80)
    table, place, page = tmp_path / "t.csv", tmp_path / "m.suffice", tmp_path / "page.html"
    body = [
        f"{'<b>gold' if k else 'basic'},{rng.normal(30 * k, 2):.2f},{'yes' if k else 'no'}"
        for k in kinds
    ]
    table.write_text("\n".join(["<script>plan,calls,renewed", *body, ""]), "utf-8")
    assert run("cluster", table, "-k", "2", "-o", place).code == 0
    done = run("report", table, "--clusters", place, "-o", page)
    assert done.code == 0, done.err
    html = page.read_text("utf-8")
    assert "independent within a cluster" in html
    assert "&lt;script&gt;plan" in html
    assert "<script" not in html
    assert "<b>gold" not in html


def test_what_is_no_page_of_clusters_is_refused(
    file: Path, run: Callable[..., Run], tmp_path: Path
) -> None:
    table, page = tmp_path / "rows.csv", tmp_path / "page.html"
    classes = tmp_path / "classes.suffice"
    assert run("fit", table, "--target", "kind", "--model", "gda", "-o", classes).code == 0
    other, empty = tmp_path / "other.csv", tmp_path / "empty.csv"
    other.write_text("height,depth\n1,2\n", "utf-8")
    empty.write_text("height,width,depth\n,,\n", "utf-8")
    for arguments, words in (
        ((table,), "either --target"),
        ((table, "--target", "kind", "--clusters", file), "either --target"),
        ((table, "--clusters", file, "--drop", "depth"), "--drop cannot be used with --clusters"),
        ((table, "--clusters", classes), "GaussianDiscriminant: its classes have names"),
        ((table, "--clusters", table), "is not a model file"),
        ((other, "--clusters", file), "width"),
        ((empty, "--clusters", file), "all rows are blank"),
    ):
        done = run("report", *arguments, "-o", page)
        assert done.code != 0
        assert words in done.err
        assert "Hint:" in done.err
        assert not page.exists()
