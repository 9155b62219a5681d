"""Every control of the playground, by mouse, by touch and by keys; and tables nobody can read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from suffice.web.playground import playground_file

if TYPE_CHECKING:
    from collections.abc import Callable

SETTLE = 120
"""Milliseconds after which a frame is drawn."""
WAYS = ("mouse", "touch", "keys")
"""How a control is used."""


class Hand:
    """Uses controls in one way."""

    def __init__(self, page: Any, way: str) -> None:
        self.page, self.way = page, way
        self.used: set[str] = set()

    def press(self, selector: str, key: str = "Enter") -> None:
        """Press a button, a link or a box."""
        self.used.add(selector)
        one = self.page.locator(selector).first
        if self.way == "keys":
            one.focus()
            self.page.keyboard.press(key)
        elif self.way == "touch":
            one.tap()
        else:
            one.click()
        self.page.wait_for_timeout(SETTLE)

    def radio(self, selector: str) -> None:
        """Choose one of a group of buttons: keys go through it by arrows."""
        self.used.add(selector)
        if self.way != "keys":
            self.press(selector)
            return
        group = self.page.locator(selector).locator("..")
        group.locator("[tabindex='0']").focus()
        for _ in range(group.locator("button").count()):
            if self.page.locator(selector).get_attribute("aria-checked") == "true":
                return
            self.page.keyboard.press("ArrowRight")
            self.page.wait_for_timeout(SETTLE)

    def choose(self, selector: str, value: str) -> None:
        """Choose of a list; its own window belongs to the system, and so keys do it for all."""
        self.used.add(selector)
        if self.way != "keys":
            self.page.select_option(selector, value)
        else:
            self.page.focus(selector)
            self.page.keyboard.press("Home")
            for _ in range(20):
                if self.page.input_value(selector) == value:
                    break
                self.page.keyboard.press("ArrowDown")
        self.page.wait_for_timeout(SETTLE)

    def drag(self, start: tuple[float, float], stop: tuple[float, float]) -> None:
        """Drag on the plane; keys take what is at the cross, move it, and let it go."""
        self.used.add("#plane")
        page = self.page
        if self.way == "keys":
            page.evaluate("p => playground.change(s => { s.probe = p })", list(start))
            page.wait_for_timeout(SETTLE)
            page.focus("#plane")
            page.keyboard.press("Enter")
            for j, (less, more) in enumerate((("Left", "Right"), ("Down", "Up"))):
                tenths = round(10 * (stop[j] - start[j]))
                for _ in range(abs(tenths)):
                    page.keyboard.press(f"Arrow{more if tenths > 0 else less}")
            if self.state("tool") in ("move", "pull"):
                page.keyboard.press("Enter")
            page.wait_for_timeout(SETTLE)
            return
        page.evaluate("document.getElementById('plane').scrollIntoView({block: 'center'})")
        box = page.locator("#plane").bounding_box()

        def at(place: tuple[float, float]) -> tuple[float, float]:
            x = box["x"] + (place[0] + 5) / 10 * box["width"]
            return x, box["y"] + (3.75 - place[1]) / 7.5 * box["height"]

        if self.way == "mouse":
            page.mouse.move(*at(start))
            page.mouse.down()
            page.mouse.move(*at(stop), steps=4)
            page.mouse.up()
        else:
            # A finger that stops before it is lifted: a fling would swallow the next tap.
            session = page.context.new_cdp_session(page)
            way = np.linspace(start, stop, 5).tolist()
            for kind, place in (
                ("touchStart", way[0]), *(("touchMove", one) for one in [*way[1:], way[-1]]),
                ("touchEnd", None),
            ):  # fmt: skip
                points = [] if place is None else [dict(zip("xy", at(place), strict=True))]
                session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
                page.wait_for_timeout(40)
            session.detach()
        page.wait_for_timeout(SETTLE)

    def write(self, selector: str, text: str) -> None:
        """Write into a field: there are keys on a telephone too."""
        self.used.add(selector)
        if self.way == "keys":
            self.page.focus(selector)
            self.page.keyboard.press("Control+a")
        else:
            self.press(selector)
            self.page.keyboard.press("Control+a")
        self.page.keyboard.type(text)

    def state(self, what: str) -> Any:
        """Return a part of the state."""
        return self.page.evaluate(f"playground.{what}")


@pytest.fixture(params=WAYS)
def hand(request: pytest.FixtureRequest, opened: Callable[..., Any]) -> Hand:
    """Return a hand that uses the playground in one way."""
    touch = {"has_touch": True} if request.param == "touch" else {}
    page = opened(playground_file(), **touch)
    page.wait_for_selector("#page:not([hidden])")
    page.wait_for_timeout(SETTLE)
    return Hand(page, request.param)


@pytest.mark.slow
def test_tools_paint_drag_erase_pull_and_cross(hand: Hand) -> None:
    hand.press("#clear")
    assert hand.state("state.points.length") == 0
    hand.radio("#tool-paint")
    hand.radio("#class-1")
    hand.drag((1.0, 1.0), (1.0, 1.0))
    painted = hand.state("state.points")
    assert painted[0] == {
        "x": pytest.approx(1, abs=0.05), "y": pytest.approx(1, abs=0.05), "c": 1,
    }  # fmt: skip
    hand.radio("#tool-move")
    hand.drag((1.0, 1.0), (2.0, 0.5))
    moved = hand.state("state.points[0]")
    assert [moved["x"], moved["y"]] == pytest.approx([2.0, 0.5], abs=0.06)
    hand.press("#undo")
    assert hand.state("state.points[0].x") == pytest.approx(1.0, abs=0.05)
    hand.press("#redo")
    assert hand.state("state.points[0].x") == pytest.approx(2.0, abs=0.06)
    hand.radio("#tool-erase")
    hand.drag((2.0, 0.5), (2.0, 0.5))
    assert hand.state("state.points.length") == 0
    hand.press("#undo")
    hand.radio("#tool-cross")
    hand.drag((0.0, 0.0), (-1.5, 1.0))
    assert hand.state("state.probe") == pytest.approx([-1.5, 1.0], abs=0.06)
    hand.press("#more")
    assert hand.state("state.classes") == 3
    hand.press("#fewer")
    assert hand.state("state.classes") == 2
    hand.press("#draw-world")
    hand.radio("#tool-pull")
    mean = hand.state("model.normal.law.frame.means[0]")
    start = (round(mean[0], 1), round(mean[1], 1))
    hand.drag(start, (start[0] + 1.0, start[1] - 0.5))
    pulled = hand.state("state.pulled")[0]["mean"]
    assert pulled == pytest.approx([start[0] + 1.0, start[1] - 0.5], abs=0.08)
    hand.press("#refit")
    assert hand.state("state.pulled") is None
    assert hand.used == OF_THE_PLANE


@pytest.mark.slow
def test_models_views_blanks_and_new_points(hand: Hand) -> None:
    for model in ("per-class", "naive-bayes", "logistic", "spherical"):
        hand.choose("#model", model)
        assert hand.state("state.model") == model
        assert hand.state("model.kind") == model
    shows = [f"show-{one}" for one in ("evidence", "none", "posterior", "boundary", "contours")]
    for box in ("both", *shows, "hide-0", "hide-1"):
        before = hand.page.is_checked(f"#{box}")
        hand.press(f"#{box}", "Space")
        assert hand.page.is_checked(f"#{box}") != before
    state = hand.state("state")
    assert state["both"]
    assert state["hidden"] == [True, True]
    assert not state["show"]["posterior"]
    # With nothing known, shares at the cross are the priors.
    shares = hand.page.eval_on_selector_all("#probe li", "l => l.map(e => +e.dataset.share)")
    priors = np.exp(hand.state("model.normal.logPriors"))
    np.testing.assert_allclose(shares, priors, atol=1e-12)
    address = hand.page.url
    hand.write("#many", "90")
    hand.press("#sample")
    assert hand.state("state.points.length") == 90
    hand.choose("#world", "unequal")
    hand.press("#draw-world")
    assert hand.page.url != address
    hand.page.go_back()
    hand.page.go_back()
    hand.page.wait_for_timeout(SETTLE)
    assert hand.state("state") == state
    hand.choose("#model", "perceptron")
    hand.press("#step")
    assert "1 rows looked at" in hand.page.inner_text("#progress")
    hand.press("#run")
    hand.page.wait_for_timeout(2 * SETTLE)
    assert "1 rows looked at" not in hand.page.inner_text("#progress")
    hand.press("#again")
    assert "0 rows" in hand.page.inner_text("#progress")
    hand.press("#exercises a")
    assert hand.page.evaluate("scrollY") == 0
    assert hand.state("state.model") == "shared"
    assert hand.used == OF_THE_MODEL


def dropped(page: Any, name: str, content: str, size: int = 0) -> None:
    """Drop a file on the page; `size` makes one of as many bytes."""
    page.evaluate(
        """([name, content, size]) => {
        const part = new Uint8Array(1e6);
        const parts = size > 0 ? Array.from({length: size / 1e6}, () => part) : [content];
        const held = new DataTransfer();
        held.items.add(new File(parts, name));
        document.getElementById("zone").dispatchEvent(
          new DragEvent("drop", { dataTransfer: held, bubbles: true, cancelable: true }));
        }""",
        [name, content, size],
    )


@pytest.mark.slow
def test_curves_and_a_table_of_ones_own(hand: Hand) -> None:
    page = hand.page
    hand.choose("#curve-world", "unequal")
    hand.press("#curve-run")
    page.wait_for_function("playground.sizes?.length > 0", timeout=60_000)
    assert page.locator("#curves path, #curves polyline").count() > 0
    # The window in which a file is chosen is the system's; the button opens it in every way.
    hand.used.add("#file")
    with page.expect_file_chooser() as chosen:
        if hand.way == "keys":
            page.focus("#file")
            page.keyboard.press("Space")
        elif hand.way == "touch":
            page.locator("label.file").tap()
        else:
            page.locator("label.file").click()
    rows = "".join(f"{i},{(7 * i) % 5},{i % 3},{'ab'[i % 2]},{'uv'[i // 20]}\n" for i in range(40))
    held = {"name": "mine.csv", "mimeType": "text/csv", "buffer": f"p,q,r,s,t\n{rows}".encode()}
    chosen.value.set_files(held)
    page.locator("#said", has_text="40 rows").wait_for()
    columns = page.eval_on_selector_all("#col-x option", "l => l.map(o => [o.text, o.value])")
    places = dict(columns)
    hand.choose("#col-x", places["q"])
    hand.choose("#col-y", places["r"])
    targets = dict(page.eval_on_selector_all("#col-t option", "l => l.map(o => [o.text, o.value])"))
    hand.choose("#col-t", targets["t"])
    hand.press("#use")
    assert [p["c"] for p in hand.state("state.points")] == [0] * 20 + [1] * 20
    assert len({p["y"] for p in hand.state("state.points")}) == 3
    assert hand.used == OF_OTHERS


OF_THE_PLANE = {
    "#clear", "#tool-paint", "#tool-move", "#tool-erase", "#tool-cross", "#tool-pull", "#class-1",
    "#plane", "#undo", "#redo", "#more", "#fewer", "#draw-world", "#refit",
}  # fmt: skip
OF_THE_MODEL = {
    "#model", "#both", "#show-evidence", "#show-none", "#show-posterior", "#show-boundary",
    "#show-contours", "#hide-0", "#hide-1", "#many", "#sample", "#world", "#draw-world", "#step",
    "#run", "#again", "#exercises a",
}  # fmt: skip
OF_OTHERS = {"#curve-world", "#curve-run", "#file", "#col-x", "#col-y", "#col-t", "#use"}


def test_no_control_is_left_out(opened: Callable[..., Any]) -> None:
    """What the tests above use, in each of three ways, is all that the page has."""
    page = opened(playground_file())
    page.wait_for_selector("#page:not([hidden])")
    found = page.eval_on_selector_all(
        "button, select, input, textarea, canvas[tabindex], [role=radio], a",
        "l => l.map(e => e.closest('#exercises') ? '#exercises a' : `#${e.id}`)",
    )
    alike = {"#class-0": "#class-1"}
    held = OF_THE_PLANE | OF_THE_MODEL | OF_OTHERS
    assert {alike.get(one, one) for one in found} == held


@pytest.mark.slow
def test_tables_that_cannot_be_used_are_a_sentence_and_the_page_goes_on(
    opened: Callable[..., Any],
) -> None:
    page = opened(playground_file())
    page.wait_for_selector("#page:not([hidden])")
    good = "x,y,class\n" + "\n".join(f"{i},{(7 * i) % 5},{'ab'[i % 2]}" for i in range(20))
    bad = [
        ("large.csv", "", 200_000_000, "200 MB"),
        ("words.csv", "a,b\nred,blue\ngreen,red\n", 0, "no column of numbers"),
        ("pipes.csv", "x^y^class\n1^2^a\n3^4^b\n", 0, "no column of numbers"),
        ("one.csv", "x,word\n1,a\n2,b\n3,a\n", 0, "only one column of numbers"),
        ("empty.csv", "", 0, ""),
    ]
    for name, content, size, words in bad:
        dropped(page, name, content, size)
        page.wait_for_function(
            "words => { const said = document.getElementById('said').textContent;"
            " return said !== '' && said.includes(words); }",
            arg=words,
        )
        assert page.is_hidden("#choose")
    dropped(page, "single.csv", good.replace(",b", ",a"))
    page.locator("#said", has_text="20 rows").wait_for()
    page.click("#use")
    assert "only one class" in page.inner_text("#said")
    dropped(page, "good.csv", good.replace(",", ";"))
    page.locator("#said", has_text="good.csv: 20 rows").wait_for()
    page.click("#use")
    page.wait_for_timeout(SETTLE)
    assert len(page.evaluate("playground.state.points")) == 20
