"""The report comes alive: what the browser shows is what Python says, by mouse, touch and keys."""

from __future__ import annotations

import json
import re
from datetime import date
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import confusion_matrix, precision_score, recall_score

from suffice import GaussianDiscriminant, LogisticRegression, NaiveBayes, compare
from suffice.columns.spellings.spelling import Spelling
from suffice.report import page
from suffice.report.contents import Contents
from suffice.report.html_page import rendered
from suffice.report.living import ALL_STEPS, MOST_STEPS, threshold_content

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from suffice.evaluation import Comparison

HOSTILE = "</script><img src=x onerror=\"document.title='owned'\">"
"""A name that would be markup."""
ORDER = {"shared": GaussianDiscriminant(), "per-class": GaussianDiscriminant("per-class"),
         "naive-bayes": NaiveBayes("gaussian"), "logistic": LogisticRegression()}  # fmt: skip


def rows(n: int, k: int, seed: int = 0) -> tuple[pd.DataFrame, Any]:
    rng = np.random.default_rng(seed)
    y = rng.integers(0, k, n)
    X = pd.DataFrame({
        "size": rng.normal(y, 1.0), HOSTILE: rng.normal(-y, 1.5), "third": rng.normal(0.4 * y, 1.0),
        "kind": np.where(rng.random(n) < 0.3 + y / (3 * k), HOSTILE, "b"),
    })  # fmt: skip
    X.loc[::9, "third"] = np.nan
    return X, np.array([f"{c} {HOSTILE}" for c in range(k)])[y]


@pytest.fixture(scope="module")
def two() -> Comparison:
    return compare(*rows(240, 2), models=["gda", "logistic"], folds=4, curves=False)


@pytest.fixture(scope="module")
def four() -> Comparison:
    return compare(*rows(300, 4, 1), models=["gda"], folds=4, curves=False)


@pytest.fixture(scope="module")
def places(
    two: Comparison, four: Comparison, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("living")
    found = {}
    for name, comparison in (("two", two), ("four", four)):
        found[name] = folder / f"{name}.html"
        found[name].write_text(page(comparison, target=HOSTILE, source=HOSTILE), "utf-8")
    return found


@pytest.mark.slow
def test_without_its_script_the_page_is_the_still_one(
    two: Comparison, places: dict[str, Path]
) -> None:
    living = places["two"].read_text("utf-8")
    still = page(two, target=HOSTILE, source=HOSTILE, living=False)
    assert "<script" not in still
    bare = re.sub(r"<script.*?</script>", "", living, flags=re.DOTALL)
    bare = re.sub(r"; script-src 'sha256-[^']+'", "", bare)
    cut = bare.index("</style>")
    kept = still.index("</style>")
    assert bare[:kept] == still[:kept]  # the sheet of the living parts is added at its end
    assert bare[cut:] == still[kept:]


def joined(steps: dict[str, Any], at: float) -> list[float]:
    named = np.array(steps["odds"]) >= at
    yes, no = np.array(steps["yes"]), np.array(steps["no"])
    return [yes[named].sum(), yes[~named].sum(), no[named].sum(), no[~named].sum()]


@pytest.mark.parametrize(
    ("n", "k", "weighed"), [(200, 2, False), (3000, 2, True), (900, 12, False)]
)
def test_steps_count_every_row_and_are_exact_where_they_end(n: int, k: int, weighed: bool) -> None:
    X, y = rows(n, k, n + k)
    weights = np.random.default_rng(0).uniform(0.5, 2.0, n) if weighed else None
    found = compare(X[["size"]], y, models=["gda"], folds=3, curves=False, sample_weight=weights)
    content = threshold_content(found, found.best)
    assert content is not None
    held = found.held_out[found.best].log_posterior
    assert held is not None
    assert sum(len(one["odds"]) for one in content["steps"]) <= ALL_STEPS
    for steps in content["steps"]:
        assert len(steps["odds"]) <= MOST_STEPS
        assert steps["odds"] == sorted(steps["odds"], reverse=True)
        c = steps["of"]
        own = held[:, c] - np.log(np.delete(np.exp(held), c, axis=1).sum(axis=1))
        belongs = found.rows.codes == c
        each = np.ones(n) if found.rows.weights is None else found.rows.weights
        for at in [0.0, *steps["odds"][:: max(1, len(steps["odds"]) // 7)]]:
            # Odds are written with six digits.
            named = own >= at - 1e-5 * abs(at)
            expected = [each[a & b].sum() for a in (belongs, ~belongs) for b in (named, ~named)]
            np.testing.assert_allclose(joined(steps, at), expected, rtol=1e-6)


def counts(shown: Any) -> list[float]:
    found: list[float] = shown.eval_on_selector_all(
        "#threshold-counts td", "l => l.map(e => +e.dataset.count)"
    )
    return found


@pytest.mark.slow
def test_the_threshold_moves_counts_costs_and_curves(
    two: Comparison, places: dict[str, Path], opened: Callable[..., Any]
) -> None:
    shown = opened(places["two"])
    chances = np.exp(two.held_out[two.recommendation.model].log_posterior)[:, 1]
    is_one = two.rows.codes == 1

    def check(at: float) -> None:
        named = chances >= at
        matrix = confusion_matrix(is_one, named, labels=[True, False])
        assert counts(shown) == matrix.ravel().tolist()
        figures = shown.locator("#threshold-figures")
        recall = recall_score(is_one, named, zero_division=np.nan)
        assert float(figures.get_attribute("data-recall")) == pytest.approx(recall)
        if named.any():
            precision = precision_score(is_one, named)
            assert float(figures.get_attribute("data-precision")) == pytest.approx(precision)
        dot = shown.locator(".chosen-point").first
        assert float(dot.get_attribute("cy")) == pytest.approx(12 + (1 - recall) * 246, abs=0.01)

    check(0.5)
    for text in ("0.2", "0,85", "0", "1"):
        shown.fill("#threshold-number", text)
        shown.keyboard.press("Enter")
        check(float(text.replace(",", ".")))
    shown.focus("#threshold-slider")
    shown.keyboard.press("Home")
    for _ in range(3):
        shown.keyboard.press("ArrowRight")
    check(0.003)
    shown.fill("#threshold-alarm", "1")
    shown.fill("#threshold-miss", "9")
    shown.click("#threshold-fair")
    check(0.1)
    cost = float(shown.get_attribute("#threshold-figures", "data-cost"))
    hit, missed, alarms, _ = counts(shown)
    assert cost == alarms + 9 * missed
    shown.click("#threshold-cheapest")
    every = np.append(chances, 2.0)
    least = min(
        (~is_one & (chances >= t)).sum() + 9 * (is_one & (chances < t)).sum() for t in every
    )
    assert float(shown.get_attribute("#threshold-figures", "data-cost")) == least
    curve = shown.locator(".threshold-curve").first
    box = curve.bounding_box()
    shown.mouse.click(box["x"] + 0.99 * box["width"], box["y"] + 0.05 * box["height"])
    assert counts(shown)[0] == is_one.sum()  # at the far end everything is named
    shown.fill("#threshold-number", "many")
    shown.keyboard.press("Enter")
    assert "from 0 to 1" in shown.inner_text("#threshold [role=alert]")
    assert hit > 0


@pytest.mark.slow
def test_any_of_many_classes_is_named_by_touch(
    four: Comparison, places: dict[str, Path], opened: Callable[..., Any]
) -> None:
    shown = opened(
        places["four"], viewport={"width": 390, "height": 800}, has_touch=True, is_mobile=True
    )
    assert shown.evaluate("document.documentElement.scrollWidth") <= 390
    held = np.exp(four.held_out[four.recommendation.model].log_posterior)
    for c in range(4):
        shown.select_option("#threshold-class", str(c))
        expected = confusion_matrix(four.rows.codes == c, held[:, c] >= 0.5, labels=[True, False])
        assert counts(shown) == expected.ravel().tolist()
    before = counts(shown)
    curve = shown.locator(".threshold-curve").nth(1)
    curve.scroll_into_view_if_needed()
    box = curve.bounding_box()
    shown.touchscreen.tap(box["x"] + 0.5 * box["width"], box["y"] + 0.1 * box["height"])
    assert counts(shown) != before
    slider = shown.locator("#threshold-slider")
    slider.scroll_into_view_if_needed()
    box = slider.bounding_box()
    shown.touchscreen.tap(box["x"] + 0.9 * box["width"], box["y"] + 0.5 * box["height"])
    assert 0.85 < float(shown.input_value("#threshold-number")) < 0.95
    # Pictures tell what a finger touches.
    picture = shown.locator("#calibration svg[data-picture]").first
    picture.scroll_into_view_if_needed()
    box = picture.bounding_box()
    for share in (0.2, 0.5, 0.8):
        shown.touchscreen.tap(box["x"] + share * box["width"], box["y"] + 0.9 * box["height"])
    assert shown.is_visible(".tip")
    assert shown.evaluate("document.documentElement.scrollWidth") <= 390


@pytest.mark.slow
def test_two_columns_are_chosen_and_the_plane_is_pythons(
    four: Comparison, places: dict[str, Path], opened: Callable[..., Any]
) -> None:
    shown = opened(places["four"])
    names = shown.eval_on_selector_all("#any-x option", "l => l.map(e => e.textContent)")
    X, y = rows(300, 4, 1)
    by_name = {name[:39]: name for name in X.columns}
    for which, estimator in ORDER.items():
        for x, other in ((0, 1), (2, 0)):
            shown.select_option("#any-x", str(x))
            shown.select_option("#any-y", str(other))
            shown.select_option("#any-model", which)
            points = X[[by_name[names[j][:39]] for j in (x, other)]].to_numpy(float)
            near = np.isfinite(points).all(axis=1)
            low, high = np.quantile(points[near], [0.05, 0.95], axis=0)
            inside = near & ((points >= 2 * low - high) & (points <= 2 * high - low)).all(axis=1)
            assert int(shown.get_attribute("#any-plane", "data-rows")) == inside.sum()
            box = shown.locator("#any-plane").bounding_box()
            shown.mouse.move(box["x"] + 0.3 * box["width"], box["y"] + 0.4 * box["height"])
            place = json.loads(shown.get_attribute("#any-answer", "data-place"))
            shares = json.loads(shown.get_attribute("#any-answer", "data-shares"))
            model = estimator.fit(points[inside], y[inside])
            expected = model.predict_proba(np.array([place]))[0]
            np.testing.assert_allclose(shares, expected, atol=2e-5)  # cells are single floats
    before = shown.get_attribute("#any-answer", "data-place")
    shown.focus("#any-plane")
    shown.keyboard.press("Shift+ArrowLeft")
    assert shown.get_attribute("#any-answer", "data-place") != before
    shown.select_option("#any-y", shown.input_value("#any-x"))
    assert "two different columns" in shown.inner_text("#any-said")


@pytest.mark.slow
def test_dates_are_dates_along_the_plane_and_in_its_answer(
    tmp_path: Path, opened: Callable[..., Any]
) -> None:
    rng = np.random.default_rng(3)
    y = rng.integers(0, 2, 120)
    X = pd.DataFrame({"day": np.round(rng.normal(20_000 + 90 * y, 60)), "size": rng.normal(y)})
    comparison = compare(X, y, models=["gda"], folds=4, curves=False)
    place = tmp_path / "dates.html"
    dates = {"day": Spelling("number", date="dmy")}
    place.write_text(rendered(Contents.of(comparison, spellings=dates)), "utf-8")
    shown = opened(place)
    days = shown.eval_on_selector_all("#any-x option", "l => l.map(e => e.textContent)")
    for across in (True, False):
        shown.select_option("#any-x" if across else "#any-y", str(days.index("day")))
        shown.select_option("#any-y" if across else "#any-x", str(days.index("size")))
        marks = shown.eval_on_selector_all(
            f".{'below' if across else 'left'}-ticks span", "l => l.map(e => e.textContent)"
        )
        assert marks
        assert [date.fromisoformat(mark).isoformat() for mark in marks] == marks
        value = json.loads(shown.get_attribute("#any-answer", "data-place"))[0 if across else 1]
        said = np.datetime64(round(value * 86400), "s").astype("datetime64[D]")
        assert f"day {said}" in shown.inner_text("#any-answer")


@pytest.mark.slow
def test_tables_are_sorted_by_mouse_and_keys(
    places: dict[str, Path], opened: Callable[..., Any]
) -> None:
    shown = opened(places["four"])
    table = shown.locator("table", has=shown.locator("button.sort", has_text="AUC")).first
    cells = "rows => rows.map(r => r.cells[1].textContent)"
    first = table.locator("tbody tr").evaluate_all(cells)
    head = table.locator("button.sort", has_text="AUC")
    head.click()
    assert table.locator("[aria-sort]").get_attribute("aria-sort") == "descending"
    down = table.locator("tbody tr").evaluate_all(cells)
    assert [float(one) for one in down] == sorted(map(float, first), reverse=True)
    head.focus()
    shown.keyboard.press("Enter")
    assert table.locator("[aria-sort]").get_attribute("aria-sort") == "ascending"
    shown.keyboard.press("Space")
    assert table.locator("[aria-sort]").count() == 0
    assert table.locator("tbody tr").evaluate_all(cells) == first


@pytest.mark.slow
def test_pictures_tell_their_values_by_mouse_and_keys(
    four: Comparison, places: dict[str, Path], opened: Callable[..., Any]
) -> None:
    shown = opened(places["four"])
    curve = shown.locator("svg[aria-label^='ROC curve of']")
    curve.focus()
    shown.keyboard.press("ArrowRight")
    said = shown.inner_text(".tip")
    assert "area" in said
    assert re.search(r"false positive rate: 0\.000", said)
    shown.keyboard.press("Escape")
    assert shown.is_hidden(".tip")
    # The mark is where matplotlib has drawn the point: on the line of the SVG.
    shown.keyboard.press("ArrowRight")
    shown.keyboard.press("ArrowRight")
    mark = [float(shown.get_attribute(".mark", key)) for key in ("cx", "cy")]
    away = curve.locator("path").evaluate_all(
        "(l, [x, y]) => Math.min(...l.flatMap(p => Array.from({length: 800}, (_, i) => {"
        "const at = p.getPointAtLength(p.getTotalLength() * i / 799);"
        "return Math.hypot(at.x - x, at.y - y); })))",
        mark,
    )
    assert away < 0.6
    box = curve.bounding_box()
    scale = box["width"] / 360
    shown.mouse.move(box["x"] + mark[0] * scale, box["y"] + mark[1] * scale)
    assert shown.is_visible(".tip")
    shown.mouse.move(2, 2)
    assert shown.is_hidden(".tip")
    assert shown.title() != "owned"
    assert shown.evaluate("document.images.length") == 0


@pytest.mark.slow
def test_a_damaged_block_is_a_sentence_and_the_rest_goes_on(
    places: dict[str, Path], tmp_path: Path, opened: Callable[..., Any]
) -> None:
    html = places["two"].read_text("utf-8")
    place = tmp_path / "damaged.html"
    place.write_text(html.replace('id="thresholds">{', 'id="thresholds">!', 1), "utf-8")
    shown = opened(place)
    assert "cannot be read: the threshold" in shown.inner_text("main > .care")
    assert shown.locator("#threshold").count() == 0
    assert shown.locator("#any-plane").count() == 1
    assert shown.locator("button.sort").count() > 3


@pytest.mark.slow
def test_the_policy_lets_no_other_script_run(
    places: dict[str, Path], tmp_path: Path, browser: Any
) -> None:
    html = places["two"].read_text("utf-8")
    place = tmp_path / "changed.html"
    added = html.replace("</main>", "</main><script>document.title='owned'</script>", 1)
    assert added != html
    place.write_text(added, "utf-8")
    shown = browser.new_page()
    shown.goto(place.as_uri())
    shown.wait_for_selector("#threshold")
    assert shown.title() != "owned"
    shown.close()


@pytest.mark.slow
def test_without_javascript_nothing_is_missing_and_paper_has_no_controls(
    places: dict[str, Path], opened: Callable[..., Any]
) -> None:
    still = opened(places["two"], java_script_enabled=False)
    assert still.locator(".living").count() == 0
    assert still.locator("figure").count() > 4
    shown = opened(places["two"])
    shown.emulate_media(media="print")
    assert not any(one.is_visible() for one in shown.locator(".living").all())
