"""How quick and how large pages are: `python -m benchmarks.pages`, in headless Chromium.

The playground with 2,000 points of two classes, one of which is dragged: script work of each frame,
gaps between frames, first paint; then sizes of pages. A miss is printed, and ends in status 1.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
import warnings
from pathlib import Path
from typing import Any

import numpy as np

POINTS = 2000
"""Points on the plane while one of them is dragged."""
FRAMES = 240
"""Moves of the pointer: four seconds at sixty frames a second."""
WORK, GAP, PAINT = 8.0, 17.5, 500.0
"""Milliseconds: the median of a frame's script work, 95 % of gaps, the first paint."""
SIZES = {"playground": 250, "GDA of 30 columns": 150, "text": 1000}
"""The largest size of each page, in kB."""
ARGUMENTS = ("--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run")
DRAG = """async ([model, moves]) => {
  playground.change(s => { s.model = model; });
  playground.tool = "move";
  await new Promise(requestAnimationFrame);
  const canvas = document.getElementById("plane");
  const { x, y } = playground.state.points[0];
  const box = canvas.getBoundingClientRect();
  const px = a => box.left + (a + 5) / 10 * box.width;
  const py = b => box.top + (3.75 - b) / 7.5 * box.height;
  const send = (kind, a, b) => canvas.dispatchEvent(new PointerEvent(kind,
    { pointerId: 1, button: 0, clientX: px(a), clientY: py(b), bubbles: true, cancelable: true }));
  canvas.setPointerCapture = () => {};
  send("pointerdown", x, y);
  playground.frames.work = [];
  const times = [];
  for (let i = 0; i < moves; i++) {
    times.push(await new Promise(requestAnimationFrame));
    send("pointermove", x + 0.8 * Math.sin(i / 20), y + 0.8 * Math.cos(i / 17));
  }
  const work = playground.frames.work.slice(0, moves);
  send("pointerup", x, y);
  return { work, gaps: times.slice(1).map((t, i) => t - times[i]) };
}"""
"""Drags a point: one move a frame, as a hand does."""
FIRST_PAINT = """new Promise(resolve => new PerformanceObserver(
  list => resolve(list.getEntries()[0].startTime)).observe({ type: "paint", buffered: true }))"""
"""Waits for the entry, which the browser may write after the page is ready."""


def main() -> int:
    """Measure, print a table, and return whether something was missed."""
    program = shutil.which("chromium") or shutil.which("chromium-browser")
    if program is None:
        print("Chromium is not installed: nothing is measured")
        return 0
    from playwright.sync_api import sync_playwright

    from suffice.web.playground import playground_file

    found: list[tuple[str, float, float, str]] = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=list(ARGUMENTS))
        for model in ("shared", "per-class", "logistic"):
            page = browser.new_page(viewport={"width": 1280, "height": 900})
            page.goto(playground_file().as_uri() + address())
            page.wait_for_selector("#page:not([hidden])")
            paint = page.evaluate(FIRST_PAINT)
            told = page.evaluate(DRAG, [model, FRAMES])
            found += [
                (f"{model}: script work, median", float(np.median(told["work"])), WORK, "ms"),
                (f"{model}: gaps, 95 %", float(np.quantile(told["gaps"], 0.95)), GAP, "ms"),
                (f"{model}: first paint", float(paint), PAINT, "ms"),
            ]
            page.close()
        browser.close()
    found += [(f"page, {name}", size, float(SIZES[name]), "kB") for name, size in sizes().items()]
    wide = max(len(row[0]) for row in found)
    for name, value, most, unit in found:
        verdict = "" if value <= most else "missed"
        print(f"{name:{wide}}  {value:8.1f} {unit}  goal {most:6.1f}  {verdict}")
    return int(any(value > most for _, value, most, _ in found))


def address() -> str:
    """Return the address of points of two classes, as the playground writes it."""
    rng = np.random.default_rng(0)
    digits = "0123456789abcdefghijklmnopqrstuvwxyz"

    def written(value: float) -> str:
        whole = round(100 * value) + 20_000
        return "".join(digits[whole // 36**power % 36] for power in (2, 1, 0))

    parts = []
    for i in range(POINTS):
        c = i % 2
        x, y = rng.normal(2 * c - 1, 0.9), rng.normal(1 - 2 * c, 0.8)
        parts.append(f"{c}{written(x)}{written(y)}")
    return f"#m=shared&k=2&p={''.join(parts)}"


def sizes() -> dict[str, float]:
    """Return the sizes of pages in kB: the playground, a discriminant, and words of texts."""
    from suffice import GaussianDiscriminant, TextClassifier
    from suffice.training.opened_files import open_classifier
    from suffice.web.model_page import model_page
    from suffice.web.playground import playground_file

    rng = np.random.default_rng(1)
    y = rng.integers(0, 2, 400)
    words = np.array([f"word{i}" for i in range(40_000)])
    likely = 1.0 / np.arange(1, len(words) + 1)
    texts = [" ".join(rng.choice(words, 40, p=likely / likely.sum())) for _ in range(4000)]
    models: dict[str, Any] = {
        "GDA of 30 columns": GaussianDiscriminant("per-class").fit(rng.normal(size=(400, 30)), y),
        "text": TextClassifier().fit(texts, ["spam", "ham"] * 2000),
    }
    found = {"playground": playground_file().stat().st_size / 1000}
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, model in models.items():
            place = Path(folder) / "model.suffice"
            model.save(place)
            found[name] = len(model_page(*open_classifier(place)).encode("utf-8")) / 1000
    return found


if __name__ == "__main__":
    sys.exit(main())
