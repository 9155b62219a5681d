"""The pictures: what is drawn, and how it reaches the disk."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from matplotlib.figure import Figure

from suffice import GaussianDiscriminant
from suffice.errors import BadLabels, BadRows, BadSetting
from suffice.plots import draw_regions, save_figure, side_by_side
from suffice.plots.regions import BOUNDARY_WIDTH

if TYPE_CHECKING:
    from pathlib import Path

    from matplotlib.axes import Axes
    from numpy.typing import NDArray

FORMS = ["shared", "per-class", "diagonal", "shared-diagonal", "spherical", "auto"]


@pytest.fixture
def rows() -> NDArray[np.float64]:
    rng = np.random.default_rng(0)
    return np.vstack([rng.normal(centre, 1.0, (30, 2)) for centre in (0.0, 3.0, (6.0, 0.0))])


@pytest.fixture
def labels() -> NDArray[np.str_]:
    return np.repeat(["low", "middle", "high"], 30)


@pytest.fixture
def ax() -> Axes:
    return Figure().add_subplot()


@pytest.mark.parametrize("covariance", FORMS)
def test_every_form_can_be_drawn(
    ax: Axes, rows: NDArray[np.float64], labels: NDArray[np.str_], covariance: str
) -> None:
    model = GaussianDiscriminant(covariance=covariance).fit(rows, labels)
    assert draw_regions(ax, model, rows, labels, columns=("width", "height")) is ax
    assert len(ax.lines) == 2 * 3
    assert {text.get_text() for text in ax.get_legend().get_texts()} == {"low", "middle", "high"}
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("width", "height")


def test_the_boundary_of_a_shared_covariance_is_straight(
    ax: Axes, rows: NDArray[np.float64], labels: NDArray[np.str_]
) -> None:
    two = labels != "high"
    model = GaussianDiscriminant().fit(rows[two], labels[two])
    draw_regions(ax, model, rows[two], labels[two])
    ties = [
        path.vertices
        for drawn in ax.collections
        if np.allclose(drawn.get_linewidth(), BOUNDARY_WIDTH)
        for path in drawn.get_paths()
    ]
    assert len(ties) == 2  # seen from either class
    for edge in ties:
        # A straight line has one direction; what is left in the second is rounding.
        first, second = np.linalg.svd(edge - edge.mean(axis=0), compute_uv=False)
        assert second < 1e-9 * first


def test_an_ellipse_holds_its_share_of_the_class(ax: Axes) -> None:
    rng = np.random.default_rng(1)
    rows = rng.multivariate_normal([1.0, 2.0], [[2.0, 1.2], [1.2, 1.0]], 4000)
    labels = np.repeat(["one", "other"], 2000)
    model = GaussianDiscriminant().fit(rows, labels)
    draw_regions(ax, model, rows, labels)
    from matplotlib.path import Path as Outline

    inside = [Outline(line.get_xydata()).contains_points(rows).mean() for line in ax.lines[:2]]
    assert inside == pytest.approx([0.5, 0.95], abs=0.02)


def test_a_plane_has_two_columns(ax: Axes) -> None:
    rows = np.random.default_rng(2).normal(size=(20, 3))
    labels = ["a", "b"] * 10
    model = GaussianDiscriminant().fit(rows, labels)
    with pytest.raises(BadRows, match="a plane needs 2 columns"):
        draw_regions(ax, model, rows, labels)
    with pytest.raises(BadLabels, match="20 labels for 19 rows"):
        draw_regions(ax, model, rows[:19, :2], labels)


def test_the_same_figure_gives_the_same_bytes(
    tmp_path: Path, rows: NDArray[np.float64], labels: NDArray[np.str_]
) -> None:
    written = []
    for name in ("one.png", "two.png"):
        models = {"shared": GaussianDiscriminant().fit(rows, labels)}
        figure = side_by_side(models, rows, labels, title="Three classes")
        written.append(save_figure(figure, tmp_path / name).read_bytes())
    assert written[0] == written[1]


def test_a_picture_that_cannot_be_finished_leaves_the_old_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "picture.png"
    path.write_bytes(b"the old one")
    figure = Figure()

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(figure, "savefig", full)
    with pytest.raises(OSError, match="No space left"):
        save_figure(figure, path)
    assert path.read_bytes() == b"the old one"
    assert list(tmp_path.iterdir()) == [path]


def test_an_unknown_kind_of_picture_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadSetting, match="pictures cannot be written as 'doc'"):
        save_figure(Figure(), tmp_path / "picture.doc")
