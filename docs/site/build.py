"""The documentation as a site: `make site` builds it in build/site, without a network.

The pages of docs/ stay what forges show. They are copied to build/site-source, beside pages that
are made here: a front page, one for each file of the root that pages link to, the examples, the
code of the gallery, and an API reference from docstrings. Sphinx and MyST make HTML of it, Furo the
light and dark pages, MathJax the formulas. sphinx-gallery is not used: the pictures are drawn by
`suffice.plots.gallery`, and drawing them again for the site would take long.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
from importlib.metadata import files as installed_files
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
SOURCE, SITE = ROOT / "build" / "site-source", ROOT / "build" / "site"
LINK = re.compile(r"(!?\[[^\]]*\]\()([^)\s#]*)(#[^)\s]*)?(\))")
"""A Markdown link: what is before the address, the address, its anchor, the end."""
FENCED = re.compile(r"(?ms)(^```.*?^```$)")
"""A block of code, in which nothing is a link."""
FROM_ROOT = {
    "README.md": "index",
    "CONTRIBUTING.md": "contributing",
    "SECURITY.md": "security",
    "CHANGELOG.md": "changes",
}
"""Files of the root that are pages of the site, and what they are called there; of the first one
the front page has the opening."""
PARTS: dict[str, tuple[str, tuple[str, ...]]] = {
    "Learn": ("The subject from the beginning, with sums done by hand.", (
        "tutorial", "likelihood", "decisions", "chapter", "normal", "playground", "teachers",
        "gallery",
    )),
    "How to": ("One task each: from a table, a database or a mailbox to a model.", (
        "tour", "tables", "train", "report", "page", "compare", "guarantees", "text-classifier",
        "mail",
        "sources", "sql", "spark", "serving", "model-files", "cli",
    )),
    "Models": ("What each one assumes, what its settings mean, how it is fitted.", (
        "discriminant", "naive-bayes", "logistic", "mixtures", "perceptron", "pool", "bridge",
        "event-models", "text", "statistics", "sampling", "outliers", "degenerate-data",
    )),
    "Evidence": ("What was measured, and how.", (
        "benchmarks", "small-tables", "spam", "scaling", "evidence",
    )),
    "Reference": ("Names, design, and how to contribute.", (
        "api", "gallery-code", "examples", "architecture", "contributing", "security", "changes",
    )),
}  # fmt: skip
"""The parts of the site: a sentence, and pages in their order."""


def main() -> int:
    """Write the sources, run Sphinx over them, and return its exit code."""
    shutil.rmtree(SOURCE, ignore_errors=True)
    shutil.rmtree(SITE, ignore_errors=True)
    write_sources()
    from sphinx.cmd.build import main as sphinx

    jobs = str(min(2, os.cpu_count() or 1))
    return sphinx(["-q", "-W", "--keep-going", "-n", "-j", jobs, str(SOURCE), str(SITE)])


def write_sources() -> None:
    """Write all pages, pictures and settings that Sphinx reads."""
    from docs.site.reference import api_pages, gallery_page

    placed = {page for _, pages in PARTS.values() for page in pages}
    SOURCE.mkdir(parents=True)
    shutil.copytree(ROOT / "docs" / "images", SOURCE / "images")
    shutil.copy(HERE / "conf.py", SOURCE / "conf.py")
    static = SOURCE / "_static"
    static.mkdir()
    shutil.copy(HERE / "site.css", static / "site.css")
    shutil.copy(mathjax(), static / "tex-svg.js")
    for path in sorted((ROOT / "docs").glob("*.md")):
        if path.stem == "index":
            continue
        if path.stem not in placed:
            raise SystemExit(f"docs/site/build.py: no part of the site has {path.name}")
        write(path.name, rewritten(path.read_text("utf-8"), path))
    for name, page in FROM_ROOT.items():
        if page != "index":
            write(f"{page}.md", rewritten((ROOT / name).read_text("utf-8"), ROOT / name))
    write("examples.md", examples_page())
    write("gallery-code.md", gallery_page())
    for name, words in api_pages().items():
        write(f"{name}.md", words)
    write("index.md", front_page())


def write(name: str, words: str) -> None:
    """Write a page of the sources."""
    (SOURCE / name).write_text(words, "utf-8")


def mathjax() -> Path:
    """Return MathJax in one file, as the package of that name has it: it loads nothing else."""
    found = [p for p in installed_files("sphinx-mathjax-offline") or () if p.name == "tex-svg.js"]
    if not found:
        raise SystemExit("docs/site/build.py: MathJax is missing; Hint: pip install '.[site]'")
    return Path(str(found[0].locate()))


def rewritten(words: str, page: Path) -> str:
    """Return a page whose links lead to pages of the site; those to other files become words.

    >>> rewritten("[safe](../SECURITY.md#a) [code](../src/suffice)", ROOT / "docs" / "index.md")
    '[safe](security.md#a) code'
    """

    def link(found: re.Match[str]) -> str:
        before, address, anchor, end = found[1], found[2], found[3] or "", found[4]
        if "://" in address or not address or before.startswith("!"):
            inside = address if "://" in address or not address else _image(page, address)
            return f"{before}{inside}{anchor}{end}"
        target = (page.parent / address).resolve()
        if target.parent == ROOT / "docs" and target.suffix == ".md":
            name = target.stem  # docs/index.md, a list for forges, is the front page here
        elif target.parent == ROOT and target.name in FROM_ROOT:
            name = FROM_ROOT[target.name]
        elif target.parent == ROOT / "examples":
            name, anchor = "examples", f"#{target.stem.replace('_', '-')}-py"
        else:
            return before[1:-2]
        return f"{before}{name}.md{anchor}{end}"

    parts = FENCED.split(words)  # every second one is code
    return "".join(part if k % 2 else LINK.sub(link, part) for k, part in enumerate(parts))


def _image(page: Path, address: str) -> str:
    return (page.parent / address).resolve().relative_to(ROOT / "docs").as_posix()


def examples_page() -> str:
    """Return the programs of examples/, each whole."""
    parts = ["# Examples", "Programs to start from the root: `python examples/efron.py`."]
    for path in sorted((ROOT / "examples").glob("*.py")):
        heading = path.name.replace("_", "-").replace(".", "-")
        code = path.read_text("utf-8").rstrip()
        parts.append(f"({heading})=\n## {path.name}\n\n```python\n{code}\n```")
    return "\n\n".join(parts) + "\n"


def front_page() -> str:
    """Return the front page: what it is, two commands, and all parts."""
    tour = (ROOT / "README.md").read_text("utf-8")
    opening = rewritten(tour[: tour.index("\n## ")], ROOT / "README.md")
    parts = [opening.strip()]
    for part, (sentence, pages) in PARTS.items():
        links = "\n".join(f"- [](./{page}.md)" for page in pages)
        listed = "\n".join(pages)
        parts.append(
            f"## {part}\n\n{sentence}\n\n{links}\n\n"
            f"```{{toctree}}\n:hidden:\n:caption: {part}\n\n{listed}\n```"
        )
    return "\n\n".join(parts) + "\n"


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    sys.exit(main())
