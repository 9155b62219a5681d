"""The page of evidence: one section a module, and a verdict for every claim."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from benchmarks.evidence import Figure, main, measured, page, section, sections_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

HELD = Figure("a claim | with a bar", "0.953", "0.91 to 0.98", True, "python -m this")


def test_a_page_can_be_read_back_section_by_section() -> None:
    sections = {"b": section("b", [HELD], "2026-01-02"), "a": section("a", [], "2026-01-01")}
    assert sections_of(page(sections)) == sections
    assert page(sections).index("## a") < page(sections).index("## b")
    assert r"a claim \| with a bar" in sections["b"]


def test_a_measurement_that_stops_is_a_claim_that_does_not_hold(
    capsys: pytest.CaptureFixture[str],
) -> None:
    def measure() -> Iterator[Figure]:
        yield HELD
        raise RuntimeError("out of digits")

    first, last = measured("digits", measure)
    assert first is HELD
    assert not last.holds
    assert "out of digits" in last.figure
    assert "FAILS" in capsys.readouterr().out


def test_a_name_that_is_not_registered_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main(["--only", "nothing-of-the-kind", "--output", str(tmp_path / "page.md")])
    assert "no evidence named nothing-of-the-kind" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())
