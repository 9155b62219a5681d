"""Tables with strings, blanks and counts, straight from their csv.gz, without preparation."""

from __future__ import annotations

import csv
import io
import json
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pathlib import Path

TABLES = {"penguins": 0.95, "credit_a": 0.75, "horse_colic": 0.7, "vote": 0.85, "sick": 0.9}
"""The least share of rows that every model gets right, of those that it was fitted to."""


@pytest.mark.parametrize("model", ["gda", "naive-bayes", "logistic"])
@pytest.mark.parametrize("name", TABLES)
def test_fit_predict_explain_sample_and_inspect_need_nothing_else(
    name: str, model: str, run: Any, shared: Path, tmp_path: Path
) -> None:
    table, out = shared / "data" / "tab" / f"{name}.csv.gz", tmp_path / "m.suffice"
    done = run("fit", table, "--target", "target", "--model", model, "-o", out)
    assert done.code == 0, done.err
    predicted = run("predict", out, table, "--proba", "--json")
    answers = [json.loads(line) for line in predicted.rows]
    for answer in answers[:50]:
        shares = [value for key, value in answer.items() if key.startswith("p(")]
        assert sum(shares) == pytest.approx(1.0)
    right, _, total = predicted.err.partition("note: ")[2].split()[:3]
    assert int(total) == len(answers)
    assert int(right) / int(total) >= TABLES[name]
    (one,) = json.loads(run("explain", out, table, "--row", 2, "--json").out)
    assert one["of"] == answers[1]["prediction"]
    assert one["log_odds"] >= 0.0
    assert run("inspect", out).code == 0
    if model == "logistic":
        return
    drawn = list(csv.DictReader(io.StringIO(run("sample", out, "-n", 20).out)))
    assert len(drawn) == 20
    assert {row["target"] for row in drawn} <= {str(a["prediction"]) for a in answers}
    more = tmp_path / "more.csv"
    more.write_text(run("sample", out, "-n", 20).out)
    assert run("learn", out, table).code == 0
    assert run("forget", out, table).code == 0


def test_a_model_of_the_train_part_judges_the_rest(run: Any, shared: Path, tmp_path: Path) -> None:
    out = tmp_path / "m.suffice"
    table = shared / "data" / "tab" / "iris.csv.gz"
    assert run("fit", table, "-t", "target", "--model", "best", "-o", out).code == 0
    done = run("outliers", out, table, "--below", "0.05")
    assert done.code == 0
    assert 0 < len(done.rows) - 1 < 30
