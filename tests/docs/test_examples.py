"""The documentation runs, and what it points to is there."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("**/*.md")])
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE

every_page = pytest.mark.parametrize(
    "page", PAGES, ids=[path.relative_to(ROOT).as_posix() for path in PAGES]
)


def python_of(text: str) -> str:
    """Return the Python of a page, every other line blank, so that line numbers stay right."""
    kept, inside = [], False
    for line in text.splitlines():
        if line.startswith("```"):
            inside = line.strip() == "```python"
            kept.append("")
        else:
            kept.append(line if inside else "")
    return "\n".join(kept) + "\n"


@every_page
@pytest.mark.slow
def test_every_example_gives_what_the_page_shows(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    code = python_of(page.read_text("utf-8"))
    example = doctest.DocTestParser().get_doctest(code, {}, page.name, str(page), 0)
    said: list[str] = []
    doctest.DocTestRunner(optionflags=FLAGS).run(example, out=said.append)
    assert not said, "".join(said)


@every_page
def test_python_on_a_page_is_an_example_that_can_be_run(page: Path) -> None:
    for block in re.findall(r"(?ms)^```python\n(.*?)^```", page.read_text("utf-8")):
        assert block.startswith(">>> "), block


@every_page
def test_every_link_leads_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text("utf-8")):
        assert "://" in target or (page.parent / target).exists(), target


def test_every_page_is_in_the_index() -> None:
    index = (ROOT / "docs" / "index.md").read_text("utf-8")
    for page in (ROOT / "docs").glob("*.md"):
        assert page.name == "index.md" or page.name in index, page.name
