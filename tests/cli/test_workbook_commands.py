"""Workbooks through every command that reads rows."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING, Any

import suffice
from tests.reference.workbooks import made, rows

if TYPE_CHECKING:
    from pathlib import Path


def test_every_command_reads_workbooks(run: Any, tmp_path: Path) -> None:
    given = [["when", "size", "price", "y"]]
    for i in range(60):
        day = dt.date(2024, 1, 1) + dt.timedelta(days=i)
        given.append([day, i % 7 + (i % 2) * 3, f"{i % 9},50 €", "ab"[i % 2]])
    book = made(tmp_path / "a.xlsx", rows(["Orders"], [], *given))
    table = tmp_path / "a.csv"
    table.write_text("\n".join(";".join(map(str, row)) for row in given), "utf-8")
    model = tmp_path / "m.suffice"
    done = run("fit", book, "-t", "y", "--model", "naive-bayes", "-o", model)
    assert done.code == 0, done.err
    assert "row 3 names the columns" in done.err
    assert "price is read as numbers, in €, with decimal commas" in done.err
    answers = run("predict", model, book, "--proba").out
    assert answers == run("predict", model, table, "--proba").out
    for command in ("learn", "forget"):
        assert run(command, model, book).code == 0
    assert run("predict", model, book, "--proba").out == answers
    assert run("outliers", model, book).code == 0
    assert run("explain", model, book, "--row", 1).code == 0
    done = run("compare", book, "-t", "y", "--models", "naive-bayes", "--json")
    assert done.code in (0, 2), done.err
    refused = run("predict", model, book, "--sheet", "none")
    assert refused.code != 0
    assert "has no sheet 'none'" in refused.err
    found = suffice.train(book, target="y", model="naive-bayes", sheet=1)
    assert found.estimator.classes_.tolist() == ["a", "b"]
