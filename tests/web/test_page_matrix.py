"""Pages of every model over columns of every kind, with blanks: they answer as `predict` does."""

from __future__ import annotations

import json
import shutil
import subprocess
from datetime import date, timedelta
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from suffice.cli import main
from suffice.training.opened_files import open_classifier
from suffice.web.model_content import model_content
from tests.web.test_model_page import predicted, write

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

MODELS = ("gda", "qda", "naive-bayes", "logistic")
"""Models that have a page."""
SCRIPT = """
import {{ readFileSync }} from "node:fs";
import {{ openModel }} from "{web}/engine/models.js";
import {{ answeredTable }} from "{web}/pages/table_view.js";
const found = [];
for (const {{ content, table }} of JSON.parse(readFileSync(0, "utf-8"))) {{
  const model = await openModel(content);
  found.push(await answeredTable(table, model, content, async () => undefined));
}}
console.log(JSON.stringify(found));
"""
"""Answers of pages, in node."""


MONTHS = (
    "Jan", "Feb", "März", "avril", "May", "juin", "Jul", "August", "sept", "Okt.", "November",
    "dicembre",
)  # fmt: skip
"""Months as several people have written them into one column."""


def cells(rng: np.random.Generator, c: int) -> dict[str, str]:
    """Return a row of a class, one cell of each kind."""
    day = date(2023, 1, 1) + timedelta(days=int(rng.integers(0, 365) * (0.5 + 0.5 * c)))
    value = float(rng.normal(2.0 * c, 1.0))
    return {
        "number": f"{value:.3f}",
        "whole": str(rng.poisson(3 + 2 * c)),
        "comma": f"{1200 + 100 * value:,.2f}".replace(",", " ").replace(".", ","),
        "percent": f"{20 + 5 * value:.1f} %",
        "money": f"€{abs(90 + 10 * value):,.2f}",
        "unit": f"{5 + value:.1f} kg",
        "truth": str(bool(rng.random() < 0.3 + 0.4 * c)).lower(),
        "yes": ["no", "yes"][int(rng.random() < 0.3 + 0.4 * c)],
        "level": str(
            rng.choice(["red", "green", "Blue <b>"], p=[0.5 - 0.3 * c, 0.3, 0.2 + 0.3 * c])
        ),
        "code": str(rng.choice(["007", "012", "100"], p=[0.5 - 0.3 * c, 0.3, 0.2 + 0.3 * c])),
        "iso": day.isoformat(),
        "dmy": f"{day:%d.%m.%Y} {int(rng.integers(0, 24)):02d}:15",
        "named": f"{day.day} {MONTHS[day.month - 1]} {day.year}",
        "clock": f"{int(rng.integers(0, 12) + 11 * c):02d}:{int(rng.integers(0, 60)):02d}",
    }


def table_of(kinds: tuple[str, ...], n: int, seed: int) -> tuple[list[str], list[list[str]]]:
    """Return a table of these kinds of columns, a tenth of its cells blank."""
    rng = np.random.default_rng(seed)
    rows = []
    for _ in range(n):
        c = int(rng.random() < 0.45)
        row = cells(rng, c)
        blank = rng.choice(["", "NA"])
        shown = [str(blank) if rng.random() < 0.1 else row[kind] for kind in kinds]
        rows.append([*shown, f"{rng.normal(c, 1.0):.3f}", ["no", "yes"][c]])
    return [*kinds, "size", "target"], rows


KINDS = (
    ("number",), ("whole",), ("comma",), ("percent",), ("money",), ("unit",), ("truth",), ("yes",),
    ("level",), ("code",), ("iso",), ("dmy",), ("named",), ("clock",),
    ("number", "comma", "percent", "yes", "level", "dmy", "named", "clock", "whole"),
)  # fmt: skip
"""Columns one by one, beside a plain number, and many together."""


@pytest.mark.slow
@pytest.mark.parametrize("model", MODELS)
def test_every_kind_of_column_is_answered_as_predict_does(
    model: str,
    root: Path,
    tmp_path: Path,
    require: Callable[[object, str], None],
    capsys: pytest.CaptureFixture[str],
) -> None:
    node = shutil.which("node")
    require(node, "Node.js is not installed")
    asked: list[dict[str, Any]] = []
    expected = []
    for seed, kinds in enumerate(KINDS):
        names, rows = table_of(kinds, 300, seed)
        table = write(tmp_path / "table.csv", names, rows)
        place = tmp_path / "model.suffice"
        fit = ["fit", str(table), "-t", "target", "-o", str(place), "--force"]
        assert main([*fit, "--model", model, "--time-limit", "0.001"]) == 0
        some = [row[:-1] for row in rows[:200]]
        told = write(tmp_path / "asked.csv", names[:-1], some)
        expected.append(predicted(place, told, capsys))
        content = {**model_content(*open_classifier(place)), "name": "model"}
        asked.append({"content": content, "table": {"names": names[:-1], "rows": some}})
    done = subprocess.run(
        [str(node), "--input-type=module", "-e", SCRIPT.format(web=root / "src/suffice/web")],
        input=json.dumps(asked), capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    for kinds, one, answers in zip(KINDS, json.loads(done.stdout), expected, strict=True):
        width = len(kinds) + 1
        labels = one["header"][width + 1 : width + 3]
        assert one["problems"] == 0, (
            kinds,
            [row[-1] for row in one["rows"] if row[width] is None][:3],
        )
        for row, told_of_row in zip(one["rows"], answers, strict=True):
            assert row[width] == str(told_of_row["prediction"]), kinds
            shares = [told_of_row[label] for label in labels]
            np.testing.assert_allclose(row[width + 1 : width + 3], shares, rtol=0, atol=1e-10)


@pytest.mark.slow
def test_latent_classes_are_answered_as_predict_does(
    root: Path,
    tmp_path: Path,
    require: Callable[[object, str], None],
    capsys: pytest.CaptureFixture[str],
) -> None:
    node = shutil.which("node")
    require(node, "Node.js is not installed")
    names, rows = table_of(("whole", "yes", "level", "number", "dmy"), 300, 3)
    table = write(tmp_path / "table.csv", names[:-1], [row[:-1] for row in rows])
    place = tmp_path / "model.suffice"
    found = ["cluster", str(table), "-k", "2", "--model", "latent-classes", "-o", str(place)]
    assert main(found) == 0
    some = [["", "NA", "", "", "", ""], *(row[:-1] for row in rows[:200])]
    expected = predicted(place, write(tmp_path / "asked.csv", names[:-1], some), capsys)
    content = {**model_content(*open_classifier(place)), "name": "model"}
    asked = [{"content": content, "table": {"names": names[:-1], "rows": some}}]
    done = subprocess.run(
        [str(node), "--input-type=module", "-e", SCRIPT.format(web=root / "src/suffice/web")],
        input=json.dumps(asked), capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    answers = json.loads(done.stdout)[0]
    assert answers["problems"] == 0
    width = len(names) - 1
    labels = answers["header"][width + 1 :]
    assert labels == ["p(0)", "p(1)"]
    for row, told in zip(answers["rows"], expected, strict=True):
        assert row[width] == str(told["prediction"])
        shares = [told[label] for label in labels]
        np.testing.assert_allclose(row[width + 1 :], shares, rtol=0, atol=1e-10)
