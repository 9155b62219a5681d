"""The commands in examples/: what they compute is right, and they behave as commands should."""

from __future__ import annotations

import doctest
import math
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm

from examples import efron, poisson_classes
from suffice import GaussianDiscriminant, LogisticRegression, NaiveBayes

if TYPE_CHECKING:
    from pathlib import Path
    from types import ModuleType

BOTH = pytest.mark.parametrize("example", [efron, poisson_classes], ids=["efron", "poisson"])
PRIORS = [0.5, 0.2, 0.9]


# Efron's theory


def test_the_curve_is_efrons() -> None:
    printed = [1.0, 0.9999, 0.9949, 0.9676, 0.8992, 0.7860, 0.6410, 0.4863, 0.3430]
    for width in (1, 5, 40):
        found = [efron.efficiency(half / 2, width) for half in range(9)]
        assert found == pytest.approx(printed, abs=5.1e-5)


@pytest.mark.parametrize("prior", PRIORS)
@pytest.mark.parametrize("distance", [0.5, 2.0, 4.0])
def test_the_information_of_a_row_is_that_of_logistic_regression(
    distance: float, prior: float
) -> None:
    def per_row(x: float, power: int) -> float:
        first = (1.0 - prior) * norm.pdf(x + distance / 2)
        second = prior * norm.pdf(x - distance / 2)
        return float(x**power * first * second / (first + second))

    expected = [quad(per_row, -12, 12, (i,), epsabs=1e-13, limit=200)[0] for i in range(3)]
    found = np.array(efron.logistic_moments(distance, prior)) * prior * (1.0 - prior)
    assert found == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("prior", PRIORS)
def test_gdas_variance_at_the_boundary_follows_from_the_delta_method(prior: float) -> None:
    distance, width = 1.7, 3
    first, second = np.zeros(width), np.zeros(width)
    first[0], second[0] = -distance / 2, distance / 2
    apart, both = second - first, first + second
    share, other = prior, 1.0 - prior
    square = distance * distance
    # Cov(θ₀, θ) times the number of rows, with Σ = I (θ = μ₁ - μ₀).
    covariance = np.zeros((width + 1, width + 1))
    covariance[1:, 1:] = (1 / share + 1 / other + square) * np.eye(width) + np.outer(apart, apart)
    cross = -second / share - first / other - 0.5 * (square * both + apart * (apart @ both))
    covariance[0, 1:] = covariance[1:, 0] = cross
    covariance[0, 0] = 1 / share + 1 / other + (square / 4) * (1 / share + 1 / other)
    at = np.array([1.0, -math.log(prior / other) / distance])
    along = at @ covariance[:2, :2] @ at
    beside = np.trace(covariance[2:, 2:])
    expected = prior * other * (along + beside)
    assert efron.variances(distance, width, prior)[0] == pytest.approx(expected, rel=1e-12)


def test_swapping_the_classes_changes_nothing() -> None:
    for distance in (1.0, 3.0):
        assert efron.efficiency(distance, 5, 0.2) == pytest.approx(
            efron.efficiency(distance, 5, 0.8), rel=1e-12
        )
        assert efron.regrets(distance, 100, 5, 0.2) == pytest.approx(
            efron.regrets(distance, 100, 5, 0.8), rel=1e-12
        )


def test_regrets_of_equal_classes_have_a_short_formula() -> None:
    distance, rows, width = 2.0, 1_000, 5
    share = norm.pdf(distance / 2) * width / (distance * rows)
    a0 = efron.logistic_moments(distance, 0.5)[0]
    expected = (share * (1.0 + distance**2 / 4), share / a0)
    assert efron.regrets(distance, rows, width) == pytest.approx(expected, rel=1e-12)


def test_the_error_rate_of_a_plane_is_exact() -> None:
    assert efron.bayes_error(2.0) == pytest.approx(norm.cdf(-1.0), rel=1e-12)
    rng, size = np.random.default_rng(3), 200_000
    y = rng.random(size) < 0.3
    X = rng.standard_normal((size, 2))
    X[:, 0] += 1.5 * (y - 0.5)
    weights, intercept = np.array([1.0, -0.7]), 0.4
    wrong = np.mean((X @ weights + intercept > 0) != y)
    found = efron.error_rate(weights, intercept, 1.5, 0.3)
    assert found == pytest.approx(wrong, abs=4 * math.sqrt(wrong * (1 - wrong) / size))


# Efron's simulation, with fewer draws than the command's 800


@pytest.mark.parametrize("distance", efron.ROWS)
def test_the_simulation_agrees_with_theory_within_its_own_error(distance: float) -> None:
    draws, rows = 60, efron.ROWS[distance]
    found = efron.simulate(distance, rows, draws, np.random.default_rng([7, int(10 * distance)]))
    # Theory is that of many rows; at these sizes it is off by less than .01 (800 draws).
    assert abs(found.ratio - efron.efficiency(distance)) < 4.0 * found.error + 0.01
    assert found.error < 0.08
    for regret, theory in zip(
        (found.gda, found.logistic), efron.regrets(distance, rows, efron.WIDTH), strict=True
    ):
        assert (regret >= 0.0).all()
        error = regret.std(ddof=1) / math.sqrt(draws)
        assert abs(regret.mean() - theory) < 4.0 * error + 0.06 * theory


def test_the_standard_error_of_a_ratio_is_that_of_paired_draws() -> None:
    rng = np.random.default_rng(0)
    ratios, told = [], []
    for _ in range(400):
        logistic = rng.exponential(2.0, 200)
        gda = 0.7 * logistic + rng.exponential(0.2, 200)
        found = efron.Simulated(1.0, 100, gda, logistic)
        ratios.append(found.ratio)
        told.append(found.error)
    assert np.mean(told) == pytest.approx(np.std(ratios), rel=4.0 / math.sqrt(2 * 400))


# Poisson classes


def test_the_law_itself_as_weighted_rows_leads_each_model_to_its_limit() -> None:
    first, second = poisson_classes.masses()
    assert first.sum() + second.sum() == pytest.approx(1.0, rel=1e-12)
    X = np.concatenate([poisson_classes.COUNTS] * 2)[:, np.newaxis]
    y = np.repeat([0, 1], len(poisson_classes.COUNTS))
    weights = 1e6 * np.concatenate([first, second])
    models = {
        poisson_classes.POISSON: NaiveBayes("poisson", smoothing=0.0),
        poisson_classes.LOGISTIC: LogisticRegression(),
        poisson_classes.GDA: GaussianDiscriminant(),
    }
    for name, model in models.items():
        learned = model.fit(X, y, sample_weight=weights)
        logistic = learned if name == poisson_classes.LOGISTIC else learned.to_logistic()
        found = (logistic.intercept_[0], logistic.coef_[0, 0])
        assert found == pytest.approx(poisson_classes.limit(name), rel=1e-7), name


def test_the_truth_costs_least_and_gda_more() -> None:
    first, second = poisson_classes.masses()
    wrong, loss = poisson_classes.costs(*poisson_classes.truth())
    assert wrong == pytest.approx(np.minimum(first, second).sum(), rel=1e-12)
    theirs = poisson_classes.costs(*poisson_classes.gda_limit())
    # At x = 3, which GDA gives to the wrong class.
    assert theirs[0] - wrong == pytest.approx(abs(first[3] - second[3]), rel=1e-9)
    assert theirs[1] > 1.15 * loss


def test_estimates_gather_about_their_limits_as_narrowly_as_theory_says() -> None:
    draws, rows = 60, 3_000
    learned = poisson_classes.simulate(rows, draws, np.random.default_rng(11))
    for name, spread in poisson_classes.spreads().items():
        slopes = learned.found[name][:, 1]
        expected = spread / math.sqrt(rows)
        bias = 30.0 / rows  # of first order: .07 at 300 rows for logistic regression
        error = expected / math.sqrt(draws)
        assert abs(slopes.mean() - poisson_classes.limit(name)[1]) < 4.0 * error + bias, name
        relative = 4.0 / math.sqrt(2.0 * (draws - 1))
        assert slopes.std(ddof=1) == pytest.approx(expected, rel=relative), name


# Commands


@BOTH
def test_the_examples_in_their_documentation_hold(example: ModuleType) -> None:
    assert doctest.testmod(example).failed == 0


def test_the_table_has_a_line_for_each_distance(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    picture = tmp_path / "curve.png"
    assert efron.main(["--draws", "2", "-o", str(picture)]) == 0
    said = capsys.readouterr()
    lines = said.out.splitlines()[-len(efron.ROWS) :]
    assert [float(line.split()[0]) for line in lines] == list(efron.ROWS)
    assert [float(line.split()[3]) for line in lines] == [0.9949, 0.8992, 0.7860, 0.6410]
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert said.err == f"picture saved: {picture}\n"


def test_the_table_of_poisson_classes_ends_in_the_limits(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    picture = tmp_path / "sigmoids.svg"
    assert poisson_classes.main(["--draws", "2", "-o", str(picture)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines[3:9]] == [
        *(f"{rows:,}" for rows in poisson_classes.SIZES), "n",
    ]  # fmt: skip
    assert lines[-1].split() == ["GDA", "-5.0000", "1.4286", "3.500", "8.51%", "0.2131"]
    assert b"<svg" in picture.read_bytes()


@BOTH
@pytest.mark.slow
def test_the_seed_decides(
    example: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said = []
    for seed in ("1", "1", "2"):
        arguments = ["--draws", "2", "--seed", seed, "-o", str(tmp_path / "picture.png")]
        assert example.main(arguments) == 0
        said.append(capsys.readouterr().out)
    assert said[0] == said[1] != said[2]


def test_unequal_priors_have_a_table_and_a_picture(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["--draws", "2", "--prior", "0.2", "-o", str(tmp_path / "picture.png")]
    assert efron.main(arguments) == 0
    assert "shares 0.8 and 0.2" in capsys.readouterr().out


@BOTH
@pytest.mark.process
def test_they_run_as_commands_and_say_little_when_nobody_looks(
    example: ModuleType, root: Path, tmp_path: Path
) -> None:
    done = _run(example, root, tmp_path, "--draws", "2")
    assert done.returncode == 0, done.stderr
    assert done.stderr == f"picture saved: {example.PICTURE}\n"
    assert "\x1b" not in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 100
    assert [path.name for path in tmp_path.iterdir()] == [example.PICTURE.name]


@BOTH
@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--draws", "1"], "1 is not in the range"),
        (["--draws", "many"], "'many' is not a valid integer"),
        (["--seed", "-1"], "-1 is not in the range"),
        (["--colour"], "No such option"),
        (["rows.csv"], "unexpected extra argument"),
        (["-o", "nowhere/picture.png"], "there is no folder nowhere"),
        (["-o", "picture.doc"], "picture.doc is no picture"),
        (["-o", "picture"], "picture is no picture"),
    ],
)
def test_wrong_usage_is_a_message_before_anything_is_drawn(
    example: ModuleType,
    arguments: list[str],
    told: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(example, "simulate", _never)
    assert example.main(arguments) == 2
    said = capsys.readouterr()
    assert told in said.err
    assert said.out == ""


@pytest.mark.parametrize("prior", ["0", "1", "nan", "half"])
def test_a_prior_is_a_share_of_both_classes(
    prior: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(efron, "simulate", _never)
    assert efron.main(["--prior", prior]) == 2
    assert "--prior" in capsys.readouterr().err


@BOTH
@pytest.mark.process
def test_wrong_usage_leaves_no_traceback(example: ModuleType, root: Path, tmp_path: Path) -> None:
    done = _run(example, root, tmp_path, "--draws", "none")
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert done.stderr.splitlines()[-1].startswith("Error: ")


@BOTH
def test_help_shows_an_example(example: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    assert example.main(["--help"]) == 0
    assert "Example: python examples/" in capsys.readouterr().out


@BOTH
def test_control_c_ends_with_130(
    example: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(example, "simulate", interrupted)
    assert example.main([]) == 130
    assert capsys.readouterr().err.strip().endswith("interrupted")


@BOTH
def test_a_picture_that_cannot_be_written_is_one_line(
    example: ModuleType,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def full(_: object, path: Path) -> None:
        raise OSError(28, "No space left on device", str(path))

    monkeypatch.setattr("suffice.plots.save_figure", full)
    place = tmp_path / "picture.png"
    assert example.main(["--draws", "2", "-o", str(place)]) == 1
    assert capsys.readouterr().err == f"error: {place}: No space left on device\n"


# Pictures


def test_the_curve_of_theory_is_drawn_with_what_was_found() -> None:
    rng = np.random.default_rng(0)
    points = [
        efron.Simulated(distance, 100, *rng.exponential(1e-3, (2, 50))) for distance in efron.ROWS
    ]
    (ax,) = efron.picture(points).axes
    x, y = ax.lines[0].get_data()
    assert y == pytest.approx([efron.efficiency(at) for at in x])
    (bars,) = ax.containers
    assert list(bars.lines[0].get_xdata()) == list(efron.ROWS)
    assert bars.lines[0].get_ydata() == pytest.approx([point.ratio for point in points])
    half = [0.5 * (path.vertices[1, 1] - path.vertices[0, 1]) for path in bars[2][0].get_paths()]
    assert half == pytest.approx([2.0 * point.error for point in points])


def test_sigmoids_are_told_apart_without_colour() -> None:
    rng = np.random.default_rng(0)
    learned = [poisson_classes.simulate(300, 3, rng)]
    left, right = poisson_classes.picture(learned).axes
    shown = {line.get_label(): line for line in left.lines if not line.get_label().startswith("_")}
    assert len(shown) == 4
    looks = {(line._unscaled_dash_pattern, line.get_linewidth()) for line in shown.values()}
    assert len({str(look) for look in looks}) == 4
    markers = {container.lines[0].get_marker() for container in right.containers}
    assert len(markers) == 3


def _never(*_: object) -> None:
    raise AssertionError("nothing should be drawn")


def _run(
    example: ModuleType, root: Path, place: Path, *arguments: str
) -> subprocess.CompletedProcess[str]:
    script = root / "examples" / f"{example.__name__.rpartition('.')[2]}.py"
    environment = {**os.environ, "PYTHONPATH": str(root / "src"), "PYTHONIOENCODING": "utf-8"}
    return subprocess.run(
        [sys.executable, "-W", "error", str(script), *arguments],
        cwd=place, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True,
        encoding="utf-8", check=False,
    )  # fmt: skip
