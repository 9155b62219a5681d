"""The site: every page has its place, links lead to pages, docstrings become Markdown."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import suffice
from docs.site import build, notebooks, reference

ROOT = Path(__file__).resolve().parents[2]


def test_every_page_has_one_place_on_the_site() -> None:
    placed = [page for _, pages in build.PARTS.values() for page in pages]
    assert len(placed) == len(set(placed))
    made = {"api", "gallery-code", "examples", "notebooks", *build.FROM_ROOT.values()} - {"index"}
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
        "One line.\n\n**Parameters**\n\n- `X` : array\\\n  The rows.\n"
        "- `y` : array, optional\\\n  Labels.\n\n**Examples**\n\n```python\n>>> 1 + 1\n2\n```"
    )


@pytest.mark.slow
def test_the_reference_has_every_public_name_and_no_address_of_memory() -> None:
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


def test_a_notebook_has_the_words_the_code_and_what_it_gives(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "# Sums\n\n[Part 2](likelihood.md#a), [a tour](tour.md).\n\n```math\nx^2\n```\n\n"
        "```python\n>>> x = 2\n>>> x + 1\n3\n>>> print(x)\n2\n>>> x.no\n"
        "Traceback (most recent call last):\nAttributeError: 'int' object ...\n\n```\n"
    )
    found = notebooks.notebook(page, run=True)
    told = [cell["source"] for cell in found["cells"] if cell["cell_type"] == "markdown"]
    assert told == ["# Sums\n\n[Part 2](likelihood.ipynb), a tour.", "$$\nx^2\n$$"]
    cells = [cell for cell in found["cells"] if cell["cell_type"] == "code"]
    assert [cell["source"] for cell in cells] == ["x = 2\nx + 1", "print(x)", "x.no"]
    kinds = [cell["outputs"][0]["output_type"] for cell in cells]
    assert kinds == ["execute_result", "stream", "error"]
    assert cells[0]["outputs"][0]["data"] == {"text/plain": "3"}


def test_a_notebook_that_gives_something_else_than_its_page_is_not_written(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("```python\n>>> 1 + 1\n3\n\n```\n")
    with pytest.raises(SystemExit, match="The page has:\n3"):
        notebooks.notebook(page, run=True)
    assert notebooks.notebook(page, run=False)["cells"][0]["outputs"][0]["text"] == "3\n"


@pytest.mark.parametrize("name", notebooks.PARTS)
def test_notebooks_of_the_tutorial_show_what_their_pages_show(name: str) -> None:
    found = notebooks.notebook(ROOT / "docs" / f"{name}.md", run=False)
    assert len([cell for cell in found["cells"] if cell["cell_type"] == "code"]) > 15
    words = "".join(c["source"] for c in found["cells"] if c["cell_type"] == "markdown")
    assert "<details>" not in words
    assert ".md" not in words
    pictures = re.findall(r"\]\(attachment:([^)]+)\)", words)
    assert pictures == [name for cell in found["cells"] for name in cell.get("attachments", ())]


def test_versions_that_are_there_are_offered_newest_first(tmp_path: Path) -> None:
    for version in ("0.1.0", "0.10.0", "0.9.1"):
        (tmp_path / version).mkdir()
        (tmp_path / version / "index.html").write_text("")
    build.write_versions(tmp_path)
    assert '["0.10.0", "0.9.1", "0.1.0"]' in (tmp_path / "versions.js").read_text()
    assert "url=0.10.0/index.html" in (tmp_path / "index.html").read_text()


@pytest.mark.slow
def test_the_site_is_built_without_a_warning_and_loads_nothing_from_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for needed in ("sphinx", "myst_parser", "furo", "sphinx_mathjax_offline"):
        pytest.importorskip(needed, reason="the site's extra is not installed: suffice[site]")
    monkeypatch.setattr(build, "SOURCE", tmp_path / "source")
    monkeypatch.setattr(build, "SITE", tmp_path / "site")
    monkeypatch.setattr("sys.argv", ["build.py", "--as-tested"])
    assert build.main() == 0  # a link to nowhere is a warning, and a warning ends the build
    written = list((tmp_path / "site").rglob("*.html"))
    assert len(written) > 50
    for page in written:
        tags = re.findall(r"<(?:script|link|img|iframe)\b[^>]*>", page.read_text("utf-8"))
        assert not [tag for tag in tags if re.search(r"(?:src|href)=.(?:https?:)?//", tag)], page
    assert (tmp_path / "site" / suffice.__version__ / "searchindex.js").stat().st_size > 100_000
