"""A model in one page: it answers as `suffice predict` does, in a browser, from a disk."""

from __future__ import annotations

import csv
import gzip
import io
import json
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest

from suffice.cli import main

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

HOSTILE = "</script><script>document.title='owned'</script>"
"""What would run, were it taken for markup."""


def rows_of(place: Path) -> tuple[list[str], list[list[str]]]:
    opener: Any = gzip.open if place.suffix == ".gz" else open
    with opener(place, "rt", encoding="utf-8", newline="") as file:
        names, *rows = csv.reader(file)
    return names, rows


def write(place: Path, names: list[str], rows: list[list[str]]) -> Path:
    with place.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([names, *rows])
    return place


def made(tmp_path: Path, table: Path, target: str, *options: str) -> tuple[Path, Path]:
    """Return a model of a table, and its page."""
    model, page = tmp_path / "model.suffice", tmp_path / "page.html"
    fit = ["fit", str(table), "-t", target, "-o", str(model), "--time-limit", "0.001", *options]
    assert main(fit) == 0
    assert main(["page", str(model), "-o", str(page)]) == 0
    return model, page


def predicted(model: Path, table: Path, capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    capsys.readouterr()
    assert main(["predict", str(model), str(table), "--proba", "--json"]) == 0
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def check_answers(
    page: Any, names: list[str], rows: list[list[str]], expected: list[dict[str, Any]]
) -> None:
    # Models are unpacked while the page is already loaded; until then it shows nothing to click.
    page.wait_for_selector("#page:not([hidden])")
    found = page.evaluate("table => modelPage.answered(table)", {"names": names, "rows": rows})
    assert found["problems"] == 0
    width = len(names)
    labels = found["header"][width + 1 :]
    for row, told in zip(found["rows"], expected, strict=True):
        assert row[width] == str(told["prediction"])
        shares = [told[label] for label in labels]
        np.testing.assert_allclose(row[width + 1 :], shares, rtol=0, atol=1e-10)


@pytest.mark.slow
@pytest.mark.shared
@pytest.mark.parametrize(
    ("name", "model"),
    [
        ("adult", "naive-bayes"), ("adult", "logistic"), ("credit_a", "naive-bayes"),
        ("credit_a", "logistic"), ("penguins", "gda"), ("penguins", "qda"),
        ("penguins", "naive-bayes"),
    ],
)  # fmt: skip
def test_a_page_answers_as_predict_does(
    name: str,
    model: str,
    shared: Path,
    tmp_path: Path,
    opened: Callable[..., Any],
    capsys: pytest.CaptureFixture[str],
) -> None:
    names, rows = rows_of(shared / f"data/tab/{name}.csv.gz")
    rng = np.random.default_rng(0)
    rows = [rows[i] for i in rng.permutation(len(rows))[:1200]]
    table = write(tmp_path / "table.csv", names, rows)
    fitted, page = made(tmp_path, table, "target", "--model", model)
    some = rows[:200]
    if name == "penguins":  # more blanks than it has: two numbers of every third row
        for i, row in enumerate(some):
            if i % 3 == 0:
                some[i] = [*row[:1], "", "NA", *row[3:]]
    asked = write(tmp_path / "asked.csv", names, some)
    check_answers(opened(page), names, some, predicted(fitted, asked, capsys))
    assert page.stat().st_size < 150_000


@pytest.mark.slow
@pytest.mark.shared
def test_a_text_page_answers_as_predict_does_and_says_what_it_left_out(
    shared: Path, tmp_path: Path, opened: Callable[..., Any], capsys: pytest.CaptureFixture[str]
) -> None:
    place = shared / "data/text/sms_spam/SMSSpamCollection.tsv.gz"
    with gzip.open(place, "rt", encoding="utf-8") as file:
        rows = [line.rstrip("\n").split("\t", 1) for line in file]
    table = write(tmp_path / "sms.csv", ["label", "text"], rows)
    model, page = made(tmp_path, table, "label", "--model", "text")
    assert page.stat().st_size < 1_000_000
    some = rows[1::25][:200]
    asked = write(tmp_path / "asked.csv", ["label", "text"], some)
    shown = opened(page)
    check_answers(shown, ["label", "text"], some, predicted(model, asked, capsys))
    shown.fill("#field-0", "You have won a free prize")
    shown.locator("#shown .verdict", has_text="spam").wait_for()
    assert shown.inner_text(".verdict").startswith("spam")


def test_rare_terms_go_first_and_the_page_says_so(tmp_path: Path) -> None:
    from suffice import TextClassifier
    from suffice.training.opened_files import open_classifier
    from suffice.web.model_content import _text_doubts
    from suffice.web.text_counts import packed_text

    rng = np.random.default_rng(1)
    words = [f"word{i}" for i in range(400)]
    texts = [" ".join(rng.choice(words, 12)) for _ in range(300)]
    place = tmp_path / "model.suffice"
    TextClassifier("boolean").fit(texts, ["a", "b", "c"] * 100).save(place)
    record = open_classifier(place)[0].state["model"]
    whole, cut = packed_text(record), packed_text(record, room=20_000)
    assert whole.least == 1
    assert whole.kept == whole.every
    assert cut.least > 1
    assert 0 < cut.kept[0] < cut.every[0]
    assert cut.terms is not None
    assert len(cut.terms["packed"]["keys"]) + len(cut.terms["packed"]["counts"]) <= 20_000
    held = {"least": cut.least, "kept": list(cut.kept), "every": list(cut.every)}
    assert f"{cut.kept[0]:,} of {cut.every[0]:,} terms" in _text_doubts(held)[1]


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Return model and page of a table whose names, levels and classes would be markup."""
    folder = tmp_path_factory.mktemp("hostile")
    rng = np.random.default_rng(3)
    y = rng.integers(0, 2, 60)
    names = ["size", HOSTILE, '"><img src=x onerror=alert(1)>', "target"]
    labels = [HOSTILE, "it's \u202e <b>"]
    rows = [
        [f"{rng.normal(c, 1):.3f}", [HOSTILE, "b"][int(rng.random() < 0.3 + c / 3)],
         f"{rng.normal(c, 1):.2f}", labels[c]]
        for c in y
    ]  # fmt: skip
    table = write(folder / "table.csv", names, rows)
    return made(folder, table, "target", "--model", "naive-bayes")


def test_hostile_names_are_words(hostile: tuple[Path, Path], opened: Callable[..., Any]) -> None:
    page = opened(hostile[1])
    page.click("#draw")
    page.fill("#pasted", f"size,{HOSTILE}\n1,2")
    page.click("#answer")
    page.locator("#said", has_text="has no column").wait_for()
    assert page.title() == "Which target?"
    assert page.evaluate("document.images.length") == 0
    assert HOSTILE[:20] in page.inner_text("#fields")
    assert page.evaluate("document.querySelectorAll('script:not([type])').length") == 1


def test_the_policy_lets_nothing_else_run(
    hostile: tuple[Path, Path], browser: Any, tmp_path: Path
) -> None:
    html = hostile[1].read_text("utf-8")
    changed = html.replace("</main>", "</main><script>document.title='owned'</script>")
    assert changed != html
    place = tmp_path / "changed.html"
    place.write_text(changed, "utf-8")
    page = browser.new_page()
    page.goto(place.as_uri())
    page.wait_for_selector("#shown .verdict")
    assert page.title() == "Which target?"
    bare = tmp_path / "bare.html"
    start = changed.index('<meta http-equiv="Content-Security-Policy"')
    bare.write_text(changed[:start] + changed[changed.index(">", start) + 1 :], "utf-8")
    page.goto(bare.as_uri())
    assert page.title() == "owned"  # without the policy it would have run
    page.close()


def test_a_damaged_model_is_a_sentence(
    hostile: tuple[Path, Path], opened: Callable[..., Any], tmp_path: Path
) -> None:
    html = hostile[1].read_text("utf-8")
    for number, (old, new) in enumerate(
        [('"logPriors":[', '"logPriors":'), ('"kind":"product"', '"kind":"oracle"')]
    ):
        place = tmp_path / f"damaged{number}.html"
        place.write_text(html.replace(old, new, 1), "utf-8")
        page = opened(place)
        page.wait_for_selector("#broken:not([hidden])")
        assert "cannot be read" in page.inner_text("#broken")
        assert page.is_hidden("#page")


@pytest.mark.slow
def test_the_form_answers_as_it_changes(
    tmp_path: Path, opened: Callable[..., Any], capsys: pytest.CaptureFixture[str]
) -> None:
    rng = np.random.default_rng(4)
    y = rng.integers(0, 2, 80)
    rows = [[f"{rng.normal(3 * c, 1):.2f}", f"{rng.normal(0, 1):.2f}", ["no", "yes"][c]] for c in y]
    table = write(tmp_path / "table.csv", ["x", "y", "ill"], rows)
    model, place = made(tmp_path, table, "ill", "--model", "gda")
    page = opened(place)
    assert "Nothing is known yet" in page.inner_text("#shown")
    page.fill("#field-0", "3.1")
    page.locator(".verdict", has_text="%").wait_for()
    asked = write(tmp_path / "asked.csv", ["x", "y"], [["3.1", ""]])
    told = predicted(model, asked, capsys)[0]
    share = page.get_attribute("[data-class=yes]", "data-share")
    assert float(share) == pytest.approx(told["p(yes)"], abs=1e-10)
    before = share
    page.focus("#fields input[type=range]")
    page.keyboard.press("ArrowLeft")
    page.locator(f"[data-class=yes]:not([data-share='{before}'])").wait_for()
    page.fill("#field-0", "99")
    page.wait_for_selector("#none-of-these")
    page.fill("#field-0", "many")
    page.wait_for_selector("[aria-invalid=true]")
    assert "is not a number" in page.inner_text("#problem-0")
    page.click("#clear")
    assert "Nothing is known yet" in page.inner_text("#shown")


@pytest.mark.slow
def test_dates_are_read_and_their_parts_are_made(
    tmp_path: Path, opened: Callable[..., Any], capsys: pytest.CaptureFixture[str]
) -> None:
    rng = np.random.default_rng(8)
    rows = []
    for _ in range(200):
        day, month, hour = rng.integers(1, 29), rng.integers(1, 13), rng.integers(0, 24)
        busy = rng.random() < (0.8 if month > 6 else 0.2)
        rows.append(
            [
                f"{day:02d}.{month:02d}.2024 {hour:02d}:30",
                f"{rng.normal():.2f}",
                ["no", "yes"][busy],
            ]
        )
    table = write(tmp_path / "table.csv", ["when", "x", "busy"], rows)
    model, place = made(tmp_path, table, "busy", "--model", "naive-bayes")
    some = [row[:2] for row in rows[:40]] + [["", "1"], ["2024-03-04 05:06", ""]]
    asked = write(tmp_path / "asked.csv", ["when", "x"], some)
    page = opened(place)
    assert "when" in page.inner_text("#fields")
    assert "(month)" not in page.inner_text("#fields")
    check_answers(page, ["when", "x"], some, predicted(model, asked, capsys))


@pytest.mark.slow
def test_rows_are_pasted_answered_and_saved(
    hostile: tuple[Path, Path], tmp_path: Path, opened: Any
) -> None:
    page = opened(hostile[1])
    names = ["size", HOSTILE, '"><img src=x onerror=alert(1)>', "note"]
    out = io.StringIO()
    csv.writer(out).writerows(
        [names, ["1.5", "b", "", "=1+1"], ["", "never seen", "2", "x"], ["?!", "b", "1", ""]]
    )
    page.fill("#pasted", out.getvalue())
    page.click("#answer")
    page.wait_for_selector("#save:not([hidden])")
    assert "3 rows are answered" in page.inner_text("#said")
    assert "1 have no answer" in page.inner_text("#said")
    with page.expect_download() as download:
        page.click("#save")
    saved = tmp_path / "answers.csv"
    download.value.save_as(saved)
    header, rows = rows_of(saved)
    assert header[:4] == names
    assert header[4] == "prediction"
    assert rows[0][3] == "'=1+1"
    assert sum(map(float, rows[0][5:7])) == pytest.approx(1.0)
    assert rows[2][4] == ""
    assert "is not a number" in rows[2][-1]


def test_a_large_file_is_refused_in_words(hostile: tuple[Path, Path], opened: Any) -> None:
    page = opened(hostile[1])
    page.evaluate("""() => {
      const file = new File([new Blob([new Uint8Array(31e6)])], "large.csv");
      const held = new DataTransfer();
      held.items.add(file);
      document.getElementById("zone").dispatchEvent(
        new DragEvent("drop", { dataTransfer: held, bubbles: true, cancelable: true }));
    }""")
    page.locator("#said", has_text="suffice predict").wait_for()


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("pool", "a pool of models needs its training rows"),
        ("perceptron", "no probabilities"),
        ("words", "note holds texts beside other columns"),
        ("bytes", "note holds texts beside other columns"),
        ("silent", "in some direction no row of this mixture varies"),
    ],
)
def test_models_without_a_page_are_refused(
    kind: str, words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from suffice import MixtureDiscriminant, NaiveBayes, Perceptron, Pool

    rng = np.random.default_rng(0)
    X: Any = rng.normal(size=(60, 2))
    y = np.repeat(["a", "b"], 30)
    X[30:] += 2.0
    place = tmp_path / "model.suffice"
    models: dict[str, Any] = {
        "pool": Pool(), "perceptron": Perceptron(), "words": NaiveBayes({"note": "words"}),
        "bytes": NaiveBayes({"note": "bytes"}),
        "silent": MixtureDiscriminant(2, "EEE", random_state=0),
    }  # fmt: skip
    if kind in ("words", "bytes"):
        X = pd.DataFrame({"size": X[:, 0], "note": ["see you there", "cheap pills now"] * 30})
    if kind == "silent":
        X = np.column_stack([X, X.sum(axis=1)])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        models[kind].fit(X, y).save(place)
    assert main(["page", str(place), "-o", str(tmp_path / "page.html")]) == 1
    said = capsys.readouterr().err
    assert words in said
    assert "Hint: fit" in said
    assert not (tmp_path / "page.html").exists()


def test_the_model_file_is_in_the_page_only_if_it_is_asked_for(
    hostile: tuple[Path, Path], tmp_path: Path
) -> None:
    model, page = hostile
    assert "file-inside" not in page.read_text("utf-8").partition("<script>")[0]
    place = tmp_path / "with.html"
    assert main(["page", str(model), "-o", str(place), "--with-statistics"]) == 0
    assert 'id="file-inside"' in place.read_text("utf-8")


def test_the_page_fits_a_telephone(hostile: tuple[Path, Path], opened: Any) -> None:
    page = opened(hostile[1], viewport={"width": 390, "height": 800})
    page.click("#draw")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
