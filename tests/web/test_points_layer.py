"""Points that stand still are drawn once: the picture is as if all were drawn anew."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from suffice.web.playground import playground_file

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

EDITS = """async () => {
  const pg = playground;
  const frame = () => new Promise(requestAnimationFrame);
  const pixels = () => {
    const { width, height } = pg.plane.canvas;
    return pg.plane.context.getImageData(0, 0, width, height).data.slice();
  };
  const edits = {
    drag: s => Object.assign(s.points[3], { x: 4.2, y: 3.1 }),
    further: s => Object.assign(s.points[3], { x: 4.4, y: -3 }),
    other: s => Object.assign(s.points[9], { x: -4.5, y: 3.3 }),
    paint: s => s.points.push({ x: 4.6, y: 3.4, c: 1 }, { x: -4.6, y: -3.4, c: 0 }),
    erase: s => s.points.splice(5, 1),
    all: s => s.points.forEach(point => { point.x += 0.1; }),
    none: s => { s.points = []; },
  };
  const found = {};
  await frame();
  await frame();
  for (const [name, edit] of Object.entries(edits)) {
    const state = structuredClone(pg.state);
    edit(state);
    pg.live(state);
    await frame();
    await frame();
    const shown = pixels();
    pg.plane.layer.look = "";
    pg.show();
    const anew = pixels();
    found[name] = shown.filter((value, i) => Math.abs(value - anew[i]) > 8).length;
  }
  return found;
}"""
"""Changes points in every way; returns how many values of pixels differ when all are drawn anew."""


@pytest.mark.slow
def test_points_that_stand_still_are_where_they_were(opened: Callable[..., Any]) -> None:
    page = opened(playground_file())
    page.wait_for_selector("#page:not([hidden])")
    assert set(page.evaluate(EDITS).values()) == {0}
