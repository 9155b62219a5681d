"""The site: every page has its place, links lead to pages, docstrings become Markdown."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from docs.site import build, reference

ROOT = Path(__file__).resolve().parents[2]


def test_every_page_has_one_place_on_the_site() -> None:
    placed = [page for _, pages in build.PARTS.values() for page in pages]
    assert len(placed) == len(set(placed))
    made = {"api", "gallery-code", "examples", *build.FROM_ROOT.values()} - {"index"}
    written = {path.stem for path in (ROOT / "docs").glob("*.md")} - {"index"}
    assert set(placed) == made | written


@pytest.mark.parametrize(
    "page", sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")]), ids=lambda path: path.name
)
def test_links_of_the_site_stay_on_the_site(page: Path) -> None:
    known = {page for _, pages in build.PARTS.values() for page in pages} | {"index"}
    words = build.rewritten(page.read_text("utf-8"), page)
    for part in build.FENCED.split(words)[::2]:
        for before, address, _, _ in build.LINK.findall(part):
            if "://" in address or not address:
                continue
            if before.startswith("!"):
                assert (ROOT / "docs" / address).exists(), address
            else:
                assert address.removesuffix(".md") in known, address


def test_code_is_left_alone() -> None:
    code = "```python\n>>> a = [x](y)\n```\n"
    assert build.rewritten(code, ROOT / "docs" / "tour.md") == code


def test_sections_of_docstrings_become_lists_and_examples_code() -> None:
    words = (
        "One line.\n\nParameters\n----------\nX : array\n    The rows.\ny : array, optional\n"
        "    Labels.\n\nExamples\n--------\n>>> 1 + 1\n2\n"
    )
    assert reference.markdown(words) == (
        "One line.\n\n**Parameters**\n\n- `X` : array\n  The rows.\n- `y` : array, optional\n"
        "  Labels.\n\n**Examples**\n\n```python\n>>> 1 + 1\n2\n```"
    )


@pytest.mark.slow
def test_the_reference_has_every_public_name_and_no_address_of_memory() -> None:
    import suffice

    words = reference.api_pages()["api-suffice"]
    for name in suffice.__all__:
        if name[0].isupper():
            assert re.search(rf"(?m)^## {name}$", words), name
    assert "0x" not in words
    assert "### GaussianDiscriminant.fit" in words


def test_the_front_page_says_what_it_is_and_lists_every_part() -> None:
    words = build.front_page()
    assert words.startswith("# suffice\n")
    assert "make demo" in words
    for part in build.PARTS:
        assert f"## {part}" in words
