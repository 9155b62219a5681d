"""Normal laws one can check by hand, far from the mean and with cells missing."""

from __future__ import annotations

import math
import subprocess
import sys
from typing import TYPE_CHECKING

import numpy as np
import pytest

from suffice.errors import BadSetting
from suffice.models.gaussian.law.normal import Normal

if TYPE_CHECKING:
    from pathlib import Path

UNIT = Normal([0.0, 0.0], np.eye(2))
TWINS = Normal([1.0, 1.0], [[4.0, 4.0], [4.0, 4.0]])
POINT = Normal([1.0, 2.0], np.zeros((2, 2)))


def test_a_density_in_the_plane_integrates_to_one() -> None:
    law = Normal([0.5, -1.0], [[1.0, 0.7], [0.7, 2.0]])
    steps = np.linspace(-12.0, 12.0, 481)
    plane = np.stack(np.meshgrid(steps, steps), axis=-1).reshape(-1, 2)
    mass = law.density(plane).sum() * (steps[1] - steps[0]) ** 2
    assert mass == pytest.approx(1.0, abs=1e-9)


def test_draws_are_estimated_back() -> None:
    covariance = np.array([[2.0, 0.6, 0.0], [0.6, 1.0, -0.3], [0.0, -0.3, 0.5]])
    law = Normal([1.0, 2.0, 3.0], covariance)
    rows = law.sample(200_000, np.random.default_rng(0))
    np.testing.assert_allclose(rows.mean(axis=0), law.mean, atol=0.02)
    np.testing.assert_allclose(np.cov(rows.T), covariance, atol=0.03)
    p = np.sort(law.typicality(rows[:4000]))
    assert np.abs(p - (np.arange(4000) + 0.5) / 4000).max() < 1.63 / math.sqrt(4000)


def test_draws_are_those_of_choleskys_factor_on_every_machine() -> None:
    covariance = [[4.0, 2.0], [2.0, 10.0]]
    z = np.random.default_rng(5).standard_normal((3, 2))
    rows = Normal([1.0, 2.0], covariance).sample(3, np.random.default_rng(5))
    np.testing.assert_allclose(rows, [1.0, 2.0] + z @ [[2.0, 1.0], [0.0, 3.0]], rtol=1e-12)


def test_drawing_nothing_gives_no_rows() -> None:
    assert UNIT.sample(0, np.random.default_rng(0)).shape == (0, 2)
    with pytest.raises(BadSetting, match="size=-1"):
        UNIT.sample(-1, np.random.default_rng(0))


def test_the_textbook_conditional() -> None:
    law = Normal([1.0, 2.0, 3.0], [[4.0, 2.0, 0.0], [2.0, 3.0, 1.0], [0.0, 1.0, 2.0]])
    rest = law.conditional({0: 3.0})
    np.testing.assert_allclose(rest.mean, [3.0, 3.0], rtol=1e-14)
    np.testing.assert_allclose(rest.covariance, [[2.0, 1.0], [1.0, 2.0]], rtol=1e-14)
    assert law.conditional({}) is law


def test_divergence_between_two_lines_by_hand() -> None:
    a, b = Normal([0.0], [[1.0]]), Normal([1.0], [[4.0]])
    assert a.kl_divergence(b) == pytest.approx(math.log(2.0) + 2.0 / 8.0 - 0.5, rel=1e-14)
    assert Normal([0.0], [[1e-300]]).kl_divergence(Normal([0.0], [[1e300]])) == pytest.approx(
        math.log(1e300) - 0.5, rel=1e-12
    )


def test_entropy_by_hand() -> None:
    assert UNIT.entropy() == pytest.approx(1.0 + math.log(2.0 * math.pi), rel=1e-15)
    assert TWINS.entropy() == POINT.entropy() == -math.inf


@pytest.mark.parametrize(
    "diagonal", [(1.0, 1e-11), (1e-300, 1e300), (1e-300, 1e-300), (1e300, 1e300)]
)
def test_units_never_make_a_law_singular(diagonal: tuple[float, float]) -> None:
    law = Normal([0.0, 0.0], np.diag(diagonal))
    deviations = np.sqrt(diagonal)
    assert law.rank == 2
    assert law.mahalanobis([3.0 * deviations, deviations * [1, 0]]) == pytest.approx(
        [3.0 * math.sqrt(2.0), 1.0], rel=1e-12
    )
    assert law.entropy() == pytest.approx(UNIT.entropy() + float(np.log(deviations).sum()))
    np.testing.assert_allclose(law.principal_axes()[0], np.sort(deviations)[::-1], rtol=1e-12)
    curve = law.contour(sigmas=2.0, points=9)
    np.testing.assert_allclose(law.mahalanobis(curve), 2.0, rtol=1e-12)


# Far away, and with cells missing


def test_infinite_cells_and_far_rows_are_never_nan() -> None:
    law = Normal([0.0, 0.0], [[1.0, -0.9], [-0.9, 1.0]])
    rows = np.array(
        [[np.inf, 0], [np.inf, -np.inf], [1e200, 1e200], [1e308, -1e308], [np.nan, 1e9]]
    )
    assert not np.isnan(law.log_density(rows)).any()
    assert np.isneginf(law.log_density(rows)[:4]).all()
    assert law.mahalanobis(rows)[2] == pytest.approx(math.sqrt(20.0) * 1e200, rel=1e-9)
    assert law.log_density(rows)[4] == pytest.approx(-0.5e18)
    np.testing.assert_array_equal(law.typicality(rows), np.zeros(5))
    for degenerate in (TWINS, POINT):
        assert np.isneginf(degenerate.log_density(rows[:4] + 1.0)[:2]).all()
        assert not np.isnan(degenerate.log_density(rows)).any()


def test_a_row_with_nothing_in_it_is_perfectly_typical() -> None:
    nothing = [[np.nan, np.nan]]
    for law in (UNIT, TWINS, POINT):
        assert law.log_density(nothing)[0] == 0.0
        assert law.typicality(nothing)[0] == 1.0
        assert law.mahalanobis(nothing)[0] == 0.0


# Shape


def test_a_contour_encloses_the_mass_it_names() -> None:
    law = Normal([1.0, 2.0], [[2.0, 1.0], [1.0, 3.0]])
    curve = law.contour(mass=0.9, points=50)
    np.testing.assert_allclose(curve[0], curve[-1], atol=1e-12)
    np.testing.assert_allclose(law.typicality(curve), 0.1, rtol=1e-10)
    ends = TWINS.contour(mass=0.9, points=50)
    assert TWINS.typicality(ends).min() == pytest.approx(0.1, rel=1e-9)


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({}, "mass or sigmas"),
        ({"mass": 0.5, "sigmas": 1.0}, "mass or sigmas"),
        ({"mass": 1.0}, "mass=1"),
        ({"sigmas": -1.0}, "sigmas=-1"),
        ({"sigmas": 1.0, "points": 1}, "points=1"),
    ],
)
def test_contours_that_cannot_be_drawn(settings: dict[str, float], says: str) -> None:
    with pytest.raises(BadSetting, match=says):
        UNIT.contour(**settings)  # type: ignore[arg-type]


def test_a_contour_needs_a_plane() -> None:
    with pytest.raises(BadSetting, match="this distribution has 3"):
        Normal(np.zeros(3), np.eye(3)).contour(sigmas=1.0)


def test_laws_are_equal_by_value_and_cannot_be_written_to() -> None:
    mean = np.zeros(2)
    law = Normal(mean, np.eye(2))
    mean[0] = 5.0
    assert law == UNIT
    assert hash(law) == hash(Normal([-0.0, 0.0], np.eye(2)))
    assert law != Normal([0.0, 0.0], 2.0 * np.eye(2))
    assert law != "a law"
    with pytest.raises(ValueError, match="read-only"):
        law.mean[0] = 1.0


@pytest.mark.process
def test_densities_and_draws_need_no_scipy(root: Path) -> None:
    program = """
import sys
import numpy as np
from suffice.models.gaussian.law.normal import Normal
law = Normal([0.0, 0.0], [[1.0, 0.5], [0.5, 1.0]])
law.log_density(law.sample(10, np.random.default_rng(0)))
law.conditional({0: 1.0}).kl_divergence(law.marginal([1]))
law.contour(mass=0.9)
print(*(name for name in sys.modules if name.partition(".")[0] in {"scipy", "sklearn", "pandas"}))
"""
    ran = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=True,
        cwd=root / "src",
    )
    assert ran.stdout.strip() == ""
