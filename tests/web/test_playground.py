"""The playground: every control, by mouse, touch and keys; what is seen is what the engine says."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from suffice import GaussianDiscriminant, LogisticRegression
from suffice.cli import main
from suffice.plots.palette import COLOURS
from suffice.web.playground import playground, playground_file

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

SETTLE = 120
"""Milliseconds after which a frame is drawn."""


@pytest.fixture
def play(opened: Callable[..., Any]) -> Callable[..., Any]:
    """Return `play(address)`: the playground at an address."""

    def started(state: str = "", **settings: Any) -> Any:
        page = opened(playground_file(), state=state, **settings)
        page.wait_for_selector("#page:not([hidden])")
        page.wait_for_timeout(SETTLE)
        return page

    return started


def points(page: Any) -> list[dict[str, float]]:
    found: list[dict[str, float]] = page.evaluate("playground.state.points")
    return found


def at(page: Any, x: float, y: float) -> tuple[float, float]:
    """Return the pixel of a place of the plane."""
    page.evaluate("document.getElementById('plane').scrollIntoView({block: 'center'})")
    box = page.locator("#plane").bounding_box()
    return box["x"] + (x + 5) / 10 * box["width"], box["y"] + (3.75 - y) / 7.5 * box["height"]


def drag(page: Any, *places: tuple[float, float]) -> None:
    page.mouse.move(*at(page, *places[0]))
    page.mouse.down()
    for place in places[1:]:
        page.mouse.move(*at(page, *place), steps=4)
    page.mouse.up()
    page.wait_for_timeout(SETTLE)


def shares(page: Any) -> list[float]:
    found: list[float] = page.eval_on_selector_all("#probe li", "l => l.map(e => +e.dataset.share)")
    return found


def colour_at(page: Any, x: float, y: float) -> list[int]:
    found: list[int] = page.evaluate(
        """([x, y]) => { const c = document.getElementById("plane");
        return [...c.getContext("2d").getImageData((x + 5) / 10 * c.width,
          (3.75 - y) / 7.5 * c.height, 1, 1).data].slice(0, 3); }""",
        [x, y],
    )
    return found


def test_the_file_of_the_package_is_the_page_of_now() -> None:
    assert playground_file().read_text("utf-8") == playground(), "make docs writes it again"
    assert playground_file().stat().st_size < 250_000


def test_the_command_writes_the_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    place = tmp_path / "play.html"
    assert main(["play", "-o", str(place)]) == 0
    assert place.read_bytes() == playground_file().read_bytes()
    other = tmp_path / "other.txt"
    other.write_text("mine")
    assert main(["play", "-o", str(other)]) == 1
    assert other.read_text() == "mine"


@pytest.mark.slow
@pytest.mark.parametrize(
    "form", ["shared", "per-class", "shared-diagonal", "naive-bayes", "spherical"]
)
def test_the_screen_says_what_python_says(form: str, play: Callable[..., Any]) -> None:
    page = play()
    page.select_option("#model", form)
    page.wait_for_timeout(SETTLE)
    held = points(page)
    X = np.array([[p["x"], p["y"]] for p in held])
    y = np.array([p["c"] for p in held])
    model = GaussianDiscriminant("diagonal" if form == "naive-bayes" else form).fit(X, y)
    for place in ((0.0, 0.0), (-0.7, 0.9), (2.5, -1.0)):
        page.evaluate("p => playground.change(s => { s.probe = p })", list(place))
        page.wait_for_timeout(SETTLE)
        np.testing.assert_allclose(shares(page), model.predict_proba([place])[0], atol=1e-9)
        hidden = np.array([[place[0], np.nan]])
        page.check("#hide-1")
        page.wait_for_timeout(SETTLE)
        np.testing.assert_allclose(shares(page), model.predict_proba(hidden)[0], atol=1e-9)
        page.uncheck("#hide-1")
        if form in ("shared", "per-class"):
            page.wait_for_timeout(SETTLE)
            told = float(page.get_attribute("#probe-told", "data-typicality"))
            assert told == pytest.approx(model.typicality([place]).max(), abs=1e-9)
    # The colour of a place is the mixture of the classes' colours, by their shares.
    for name in ("boundary", "contours"):
        page.uncheck(f"#show-{name}")
    page.evaluate("playground.change(s => { s.points = s.points; })")
    page.wait_for_timeout(SETTLE)
    own = [[int(c[i : i + 2], 16) for i in (1, 3, 5)] for c in COLOURS[:2]]
    for place in ((-4.2, 3.0), (4.2, -3.0), (0.0, 3.2)):
        p = model.predict_proba([place])[0]
        expected = 255 + 0.42 * (p @ np.array(own) - 255)
        np.testing.assert_allclose(colour_at(page, *place), expected, atol=8)


@pytest.mark.slow
def test_theta_of_both_schools_is_pythons(play: Callable[..., Any]) -> None:
    page = play()
    held = points(page)
    X = np.array([[p["x"], p["y"]] for p in held])
    y = np.array([p["c"] for p in held])
    rows = page.eval_on_selector_all(
        "#theta tbody tr",
        "l => l.map(r => [...r.querySelectorAll('td')].map(d => +d.dataset.value))",
    )
    gda = GaussianDiscriminant().fit(X, y).linear_coefficients() if False else None
    del gda
    logistic = LogisticRegression().fit(X, y)
    fitted = [*logistic.coef_[0], float(np.ravel(logistic.intercept_)[0])]
    np.testing.assert_allclose(rows[1], fitted, rtol=1e-6)
    model = GaussianDiscriminant().fit(X, y)
    implied = [*model.coef_[0], float(np.ravel(model.intercept_)[0])]
    np.testing.assert_allclose(rows[0], implied, rtol=1e-8)


@pytest.mark.slow
def test_points_are_painted_dragged_erased_and_brought_back(play: Callable[..., Any]) -> None:
    page = play()
    page.click("#clear")
    assert points(page) == []
    page.click("#tool-paint")
    page.click("#class-1")
    drag(page, (-2, 1), (1, 1))
    painted = points(page)
    assert len(painted) == 5
    assert {p["c"] for p in painted} == {1}
    page.click("#class-0")
    drag(page, (0, -2))
    assert points(page)[-1] == {
        "x": pytest.approx(0, abs=0.05),
        "y": pytest.approx(-2, abs=0.05),
        "c": 0,
    }
    page.click("#tool-move")
    drag(page, (0, -2), (3, -3))
    assert points(page)[-1] == {
        "x": pytest.approx(3, abs=0.05),
        "y": pytest.approx(-3, abs=0.05),
        "c": 0,
    }
    page.click("#tool-erase")
    drag(page, (3, -3))
    assert len(points(page)) == len(painted)
    assert "n 1 → 0" in page.inner_text("#forgotten")
    page.click("#undo")
    page.wait_for_timeout(SETTLE)
    assert len(points(page)) == len(painted) + 1
    page.click("#redo")
    page.wait_for_timeout(SETTLE)
    assert len(points(page)) == len(painted)
    page.keyboard.press("Control+z")
    page.wait_for_timeout(SETTLE)
    assert len(points(page)) == len(painted) + 1
    page.click("#more")
    page.click("#class-2")
    page.click("#tool-paint")
    drag(page, (-4, -3))
    assert points(page)[-1]["c"] == 2
    page.click("#fewer")
    page.wait_for_timeout(SETTLE)
    assert {p["c"] for p in points(page)} == {0, 1}


@pytest.mark.slow
def test_links_and_the_back_button_restore_everything(play: Callable[..., Any]) -> None:
    page = play()
    page.locator("#exercises a").nth(8).click()
    page.wait_for_timeout(SETTLE)
    state = page.evaluate("playground.state")
    assert state["model"] == "per-class"
    assert state["show"]["none"]
    address = page.url
    page.select_option("#model", "logistic")
    page.wait_for_timeout(SETTLE)
    assert page.url != address
    page.go_back()
    page.wait_for_timeout(SETTLE)
    assert page.evaluate("playground.state") == state
    assert page.input_value("#model") == "per-class"
    again = play(address[address.index("#") :])
    assert again.evaluate("playground.state") == state
    assert len(again.query_selector_all("#exercises a")) >= 12


@pytest.mark.parametrize(
    "address", ["#m=oracle&p=9zz", "#p=<script>", "#t=zzz&k=9", "#%%%", "#p=" + "0abcabc" * 6000]
)
def test_an_address_of_nonsense_is_a_sentence_and_the_page_goes_on(
    address: str, play: Callable[..., Any]
) -> None:
    page = play(address)
    assert "not understood" in page.inner_text("#broken")
    page.focus("#plane")
    page.keyboard.press("Enter")
    page.wait_for_timeout(SETTLE)
    assert len(points(page)) == 1


@pytest.mark.slow
def test_keys_alone_are_enough(play: Callable[..., Any]) -> None:
    page = play("#m=shared&k=2")
    page.focus("#plane")
    page.keyboard.press("2")
    page.keyboard.press("Shift+ArrowRight")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")
    page.wait_for_timeout(SETTLE)
    assert points(page) == [{"x": 1, "y": 0.1, "c": 1}]
    page.keyboard.press("Delete")
    page.wait_for_timeout(SETTLE)
    assert points(page) == []
    page.focus("#tool-paint")
    page.keyboard.press("ArrowRight")
    page.wait_for_timeout(SETTLE)
    assert page.evaluate("playground.tool") == "move"
    assert page.evaluate("document.activeElement.id") == "tool-move"


@pytest.mark.slow
def test_a_finger_paints(play: Callable[..., Any]) -> None:
    page = play(
        "#m=shared&k=2", viewport={"width": 390, "height": 800}, has_touch=True, is_mobile=True
    )
    page.touchscreen.tap(*at(page, 1, 1))
    page.wait_for_timeout(SETTLE)
    assert points(page) == [
        {"x": pytest.approx(1, abs=0.1), "y": pytest.approx(1, abs=0.1), "c": 0}
    ]
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


@pytest.mark.slow
def test_a_mean_and_an_axis_are_pulled_and_the_density_answers(play: Callable[..., Any]) -> None:
    page = play()
    page.select_option("#model", "per-class")
    page.click("#tool-pull")
    page.wait_for_timeout(SETTLE)
    mean = page.evaluate("playground.model.normal.law.frame.means[1]")
    drag(page, tuple(mean), (3.0, 3.0))
    pulled = page.evaluate("playground.state.pulled")
    assert pulled[1]["mean"] == pytest.approx([3, 3], abs=0.06)
    page.evaluate("playground.change(s => { s.probe = [3, 3] })")
    page.wait_for_timeout(SETTLE)
    assert shares(page)[1] > 0.95
    before = page.evaluate("playground.model.normal.covariances[0]")
    centre = np.array(page.evaluate("playground.model.normal.law.frame.means[0]"))
    values, vectors = np.linalg.eigh(np.array(before))
    starts = [centre + s * np.sqrt(values[1]) * vectors[:, 1] for s in (1, -1)]
    ends = [centre + s * 1.8 * np.sqrt(values[1]) * vectors[:, 1] for s in (1, -1)]
    for start, stop in zip(starts, ends, strict=True):
        drag(page, tuple(start), tuple(stop))
    after = np.linalg.eigvalsh(np.array(page.evaluate("playground.model.normal.covariances[0]")))
    assert after[1] == pytest.approx(values[1] * 1.8**2, rel=0.1)
    assert after[0] == pytest.approx(values[0], rel=0.1)
    page.click("#refit")
    page.wait_for_timeout(SETTLE)
    assert page.evaluate("playground.state.pulled") is None


@pytest.mark.slow
def test_models_that_learn_step_by_step(play: Callable[..., Any]) -> None:
    page = play()
    page.select_option("#model", "perceptron")
    page.wait_for_timeout(SETTLE)
    page.click("#step")
    page.wait_for_timeout(SETTLE)
    assert re.search(r"1 rows looked at, 1 mistakes", page.inner_text("#progress"))
    page.click("#run")
    page.wait_for_timeout(500)
    page.click("#run")
    assert int(re.findall(r"(\d+) mistakes", page.inner_text("#progress"))[0]) > 2
    page.select_option("#model", "mixture")
    page.wait_for_timeout(SETTLE)
    before = -np.inf
    for step in range(5):
        page.click("#step")
        page.wait_for_timeout(SETTLE)
        found = re.search(r"(\d+) steps?, log-likelihood (-?[\d.]+)", page.inner_text("#progress"))
        assert found is not None
        assert int(found[1]) == step + 1
        assert float(found[2]) >= before
        before = float(found[2])
    page.click("#again")
    page.wait_for_timeout(SETTLE)
    assert "0 steps" in page.inner_text("#progress")


@pytest.mark.slow
def test_rows_are_drawn_and_curves_run_to_the_bayes_error(play: Callable[..., Any]) -> None:
    page = play()
    page.fill("#many", "250")
    page.click("#sample")
    page.wait_for_timeout(SETTLE)
    assert len(points(page)) == 250
    page.select_option("#world", "unequal")
    page.click("#draw-world")
    page.wait_for_timeout(SETTLE)
    assert "points are on their own side" in page.inner_text("#figures")
    page.select_option("#curve-world", "normal")
    page.click("#curve-run")
    page.locator("#curve-told", has_text="repetitions;").wait_for(timeout=60_000)
    sizes = page.evaluate("playground.sizes")
    assert [size["n"] for size in sizes] == [4 * 2**i for i in range(11)]
    least = float(re.findall(r"Bayes error ([\d.]+)", page.text_content("#curves"))[0]) / 100
    for school in ("gda", "logistic"):
        means = [np.mean(size[school]) for size in sizes]
        assert means[0] > means[-1] >= least - 0.015
        assert means[-1] < least + 0.02
    assert np.mean(sizes[1]["gda"]) < np.mean(sizes[1]["logistic"])  # the notes' argument


@pytest.mark.slow
def test_a_table_of_ones_own_is_shown_and_bad_ones_are_told(
    play: Callable[..., Any], tmp_path: Path
) -> None:
    page = play()

    def given(name: str, text: str) -> str:
        place = tmp_path / name
        place.write_text(text, "utf-8")
        page.set_input_files("#file", place)
        page.wait_for_timeout(300)
        found: str = page.inner_text("#said")
        return found

    rng = np.random.default_rng(0)
    rows = "\n".join(
        f"{rng.normal(c):.3f};{rng.normal(10 * c):.3f};{['no', 'yes'][c]}" for c in (0, 1) * 40
    )
    assert "80 rows, 3 columns" in given("good.csv", f"a;b;ill\n{rows}\n")
    page.click("#use")
    page.wait_for_timeout(SETTLE)
    assert len(points(page)) == 80
    assert "A is no, B is yes" in page.inner_text("#said")
    assert "no column of numbers" in given("words.csv", "a,b\nx,y\nz,w\n")
    assert "cells" in given("ragged.csv", "a,b\n1,2\n1,2,3\n1,2\n")
    assert "nothing" in given("empty.csv", "")
    given("one.csv", "a,b,c\n1,2,x\n2,3,x\n")
    page.click("#use")
    assert "only one class" in page.inner_text("#said")
    page.evaluate("""() => {
      const held = new DataTransfer();
      held.items.add(new File([new Uint8Array(31e6)], "large.csv"));
      document.getElementById("zone").dispatchEvent(
        new DragEvent("drop", { dataTransfer: held, bubbles: true, cancelable: true }));
    }""")
    page.wait_for_timeout(200)
    assert "31 MB" in page.inner_text("#said")
