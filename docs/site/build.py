"""The documentation as a site: `make site` builds it in build/site, without a network.

The pages of docs/ stay what forges show. They are copied to build/site-source, beside pages that
are made here: a front page, one for each file of the root that pages link to, the examples, the
code of the gallery, the tutorial as notebooks, and an API reference from docstrings. Sphinx and
MyST make HTML of it, Furo the light and dark pages, MathJax the formulas. sphinx-gallery is not
used: the pictures are drawn by `suffice.plots.gallery`, and drawing them again for the site would
take long.

Each version has a folder, build/site/VERSION; others that are there stay, and pages lead from one
to the other. `--as-tested` runs no notebook: cells show what the pages show, which tests have run.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
import tomllib
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
        "tutorial", "likelihood", "decisions", "notebooks", "chapter", "normal", "playground",
        "teachers", "gallery",
    )),
    "How to": ("One task each: from a table, a database or a mailbox to a model.", (
        "tour", "tables", "train", "report", "page", "compare", "guarantees", "text-classifier",
        "mail", "sources", "sql", "spark", "serving", "model-files", "cli",
    )),
    "Models": ("What each one assumes, what its settings mean, how it is fitted.", (
        "discriminant", "naive-bayes", "logistic", "mixtures", "unlabelled", "perceptron", "pool",
        "bridge", "event-models", "text", "statistics", "sampling", "outliers", "degenerate-data",
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
    version = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["version"]
    shutil.rmtree(SOURCE, ignore_errors=True)
    shutil.rmtree(SITE / version, ignore_errors=True)
    write_sources(run="--as-tested" not in sys.argv[1:])
    from sphinx.cmd.build import main as sphinx

    jobs = str(min(2, os.cpu_count() or 1))
    where = ["-d", str(SOURCE / ".doctrees"), str(SOURCE), str(SITE / version)]
    code = sphinx(["-q", "-W", "--keep-going", "-n", "-j", jobs, *where])
    write_versions(SITE)
    return int(code)


def write_versions(site: Path) -> None:
    """Write which versions are there, newest first, and a first page that leads to the newest."""
    found = [path.parent.name for path in site.glob("*/index.html")]
    found.sort(key=lambda name: [int(n) for n in re.findall(r"\d+", name)], reverse=True)
    words = json.dumps(found)
    (site / "versions.js").write_text(f"window.sufficeVersions = {words};\n", "utf-8")
    (site / "index.html").write_text(
        f'<!doctype html><meta charset="utf-8"><title>suffice</title>'
        f'<meta http-equiv="refresh" content="0; url={found[0]}/index.html">'
        f'<a href="{found[0]}/index.html">suffice {found[0]}</a>\n',
        "utf-8",
    )


def write_sources(*, run: bool) -> None:
    """Write all pages, pictures and settings that Sphinx reads; notebooks are run or not."""
    from docs.site.notebooks import write_notebooks
    from docs.site.reference import api_pages, gallery_page

    placed = {page for _, pages in PARTS.values() for page in pages}
    SOURCE.mkdir(parents=True)
    shutil.copytree(ROOT / "docs" / "images", SOURCE / "images")
    shutil.copy(HERE / "conf.py", SOURCE / "conf.py")
    shutil.copytree(HERE / "templates", SOURCE / "_templates")
    write_notebooks(ROOT / "docs", SOURCE / "notebooks", run=run)
    write("notebooks.md", notebooks_page())
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


def notebooks_page() -> str:
    """Return the page from which the notebooks are taken."""
    from docs.site.notebooks import PARTS as NOTEBOOKS

    listed = []
    for name in NOTEBOOKS:
        title = (ROOT / "docs" / f"{name}.md").read_text("utf-8").partition("\n")[0].lstrip("# ")
        where = f"{{download}}`{name}.ipynb <notebooks/{name}.ipynb>`"
        listed.append(f"- {where}: [{title}]({name}.md)\n")
    return (
        "# The tutorial as notebooks\n\nThe three parts of the tutorial, each as a notebook for "
        "Jupyter: words, formulas, pictures and code, with what every cell gives. They need "
        "`suffice` and its extra `plots`.\n\n" + "".join(listed)
    )


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
