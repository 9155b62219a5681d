"""What `make bench-check` calls slower: intervals and verdicts, with plain numbers."""

from __future__ import annotations

import json
import math
from itertools import chain, repeat
from typing import TYPE_CHECKING

import pytest
from scipy import stats

from benchmarks import check, commits, ratios
from benchmarks.verdicts import DRIFT, STEPS, SURE, Interval, Measured, Verdict, settled, verdict

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


def test_the_interval_is_students_of_the_logarithms() -> None:
    ratios_ = [1.01, 0.98, 1.05, 1.02, 1.00, 0.99, 1.04]
    found = Measured.of(ratios_).interval()
    logs = [math.log(ratio) for ratio in ratios_]
    expected = stats.ttest_1samp(logs, 0.0).confidence_interval(0.95)
    assert found.mean == pytest.approx(stats.gmean(ratios_), rel=1e-12)
    assert math.log(found.low) == pytest.approx(expected.low, rel=1e-12)
    assert math.log(found.high) == pytest.approx(expected.high, rel=1e-12)


def test_five_rounds_have_the_quantile_of_four_degrees_of_freedom() -> None:
    found = Measured(5, 0.0, math.sqrt(5.0)).interval()
    assert math.log(found.high) == pytest.approx(2.776445, abs=1e-6)


def test_two_measurements_are_compared_as_by_welch() -> None:
    today, before = [0.21, 0.22, 0.20, 0.23], [0.20, 0.19, 0.205, 0.195, 0.21, 0.2]
    found = Measured.of(today).against(Measured.of(before))
    logs = [[math.log(ratio) for ratio in some] for some in (today, before)]
    expected = stats.ttest_ind(*logs, equal_var=False).confidence_interval(0.95)
    assert math.log(found.low) == pytest.approx(expected.low, rel=1e-9)
    assert math.log(found.high) == pytest.approx(expected.high, rel=1e-9)


def test_ratios_without_any_spread_are_their_own_interval() -> None:
    same = Measured.of([2.0, 2.0])
    assert same.interval() == Interval(2.0, 2.0, 2.0)
    assert same.against(same) == Interval(1.0, 1.0, 1.0)


@pytest.mark.parametrize(
    ("low", "high", "rounds", "expected"),
    [
        (0.95, 1.03, 5, "fine"),
        (0.95, 1.031, 5, "undecided"),
        (1.02, 1.20, 25, "undecided"),
        (1.03, 1.20, 25, "undecided"),
        (1.031, 1.20, 15, "slower"),
        (1.50, 1.60, 5, "undecided"),
        (0.50, 0.60, 5, "fine"),
    ],
)
def test_slower_is_what_is_slower_beyond_noise_and_for_long_enough(
    low: float, high: float, rounds: int, expected: str
) -> None:
    assert verdict(Interval(math.sqrt(low * high), low, high), rounds) == expected


def rounds_of(ratios_: Iterator[float]) -> tuple[int, str]:
    found = settled(["case"], lambda names: dict.fromkeys(names, next(ratios_)))["case"]
    return found.measured.rounds, found.decision


def test_rounds_go_on_while_nothing_is_decided_and_no_longer() -> None:
    noise = [0.99, 1.01, 1.0, 0.98, 1.02] * 5
    assert rounds_of(iter(noise)) == (STEPS[0], "fine")
    assert rounds_of(iter([1.1 * one for one in noise])) == (SURE, "slower")
    wide = [0.8, 1.3, 0.9, 1.2, 1.0] * 5
    assert rounds_of(iter(wide)) == (STEPS[-1], "undecided")
    # Five unlucky rounds are not believed.
    unlucky = chain([1.10, 1.11, 1.10, 1.09, 1.10], repeat(0.99, 10), repeat(1.0))
    assert rounds_of(unlucky)[1] != "slower"


def test_only_what_is_undecided_is_measured_again() -> None:
    asked = []

    def once(names: list[str]) -> dict[str, float]:
        asked.append(list(names))
        return {name: {"quick": 0.5, "slow": 1.2}[name] * (1 + len(asked) % 2 / 100)
                for name in names}  # fmt: skip

    found = settled(["quick", "slow"], once)
    assert {name: one.decision for name, one in found.items()} == {
        "quick": "fine", "slow": "slower",
    }  # fmt: skip
    assert asked == [["quick", "slow"]] * STEPS[0] + [["slow"]] * (SURE - STEPS[0])


def test_a_stored_ratio_is_a_limit_as_well() -> None:
    before = ratios.stored(ratios.entry(Measured.of([0.100, 0.101, 0.099] * 5), "2026-01-01"))

    def decided(factor: float) -> str:
        today = iter([factor * one for one in [0.099, 0.101, 0.1, 0.1, 0.1] * 5])
        found = settled(
            ["case"],
            lambda names: dict.fromkeys(names, next(today)),
            lambda _, measured: measured.against(before),
            limit=DRIFT,
        )
        return found["case"].decision

    assert decided(1.0) == "fine"
    assert decided(1.05) == "fine"
    assert decided(1.2) == "slower"
    assert decided(0.5) == "fine"


def test_the_core_cases_exist(tmp_path: Path) -> None:
    assert set(commits.CORE) <= set(commits.cases(tmp_path))


def test_the_table_has_every_pair_and_says_what_it_was_measured_with() -> None:
    table = ratios.read()
    assert list(table["ratios"]) == list(ratios.cases())
    assert set(table["circumstances"]) == set(ratios.circumstances())
    for row in table["ratios"].values():
        found = ratios.stored(row).interval()
        assert row["rounds"] >= SURE
        assert (row["ratio"], row["low"], row["high"]) == pytest.approx(
            (found.mean, found.low, found.high), abs=1e-4
        )


def test_what_is_slower_is_told_and_counts(capsys: pytest.CaptureFixture[str]) -> None:
    steady = Measured.of([1.2] * SURE)
    found = {
        decision: Verdict(steady, steady.interval(), decision)
        for decision in ("fine", "slower", "undecided")
    }
    notes = {"new": "not in the old tree"}
    assert check.told([*found, *notes], found, notes) == ["slower"]
    said = capsys.readouterr().out.splitlines()
    assert len(said) == 4
    assert "1.200" in said[1]
    assert said[3].endswith("not in the old tree")


def test_a_case_that_breaks_is_told_with_its_error(tmp_path: Path) -> None:
    found = commits.answered(["no such case"], tmp_path)
    assert found == {"no such case": "KeyError: 'no such case'"}


@pytest.mark.parametrize(("numpy", "said"), [("1.0", "numpy 1.0 there"), (None, "no table")])
def test_a_table_of_other_releases_or_none_is_not_compared(
    numpy: str | None, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = tmp_path / "ratios.json"
    if numpy is not None:
        table = {"circumstances": {**ratios.circumstances(), "numpy": numpy}, "ratios": {}}
        place.write_text(json.dumps(table))
    assert check.against_table(place) == []
    assert said in capsys.readouterr().out
