"""Docstrings of public names, as numpydoc reads them: Jupyter, editors and the site parse these."""

from __future__ import annotations

import inspect
import pydoc
import re

import pytest
from sklearn.linear_model import LogisticRegression

import suffice
from tests.parsed import SOURCE

NAMES = [name for name in suffice.__all__ if not name.islower() or callable(getattr(suffice, name))]
"""What `import suffice` offers, without its facades."""
SECTIONS = ("Parameters", "See Also", "Examples")
"""What every one of them has; functions have Returns too."""


FACADES = [name for name in suffice.__all__ if inspect.ismodule(getattr(suffice, name))]
BEHIND = [
    f"{facade}.{name}"
    for facade in FACADES
    for name in getattr(getattr(suffice, facade), "__all__", ())
    if inspect.isroutine(getattr(getattr(suffice, facade), name))
    or inspect.isclass(getattr(getattr(suffice, facade), name))
]
"""What facades offer: suffice.plots, suffice.families and so on."""
LAWS = ("testing.check_", "testing.batches", "testing.row_weights", "testing.assert_same")
"""One law a line: CONTRIBUTING.md has the table of them, and `check_statistics` an example."""
INSIDE = ("models.fit_logistic",)
"""What `suffice.LogisticRegression` calls: its twelve settings are described there."""
SETTINGS = ("families.", "text.To", "text.Tf", "text.Vo", "plots.")
"""Classes that people make, whose parameters are described one by one. Others are results
and statistics: their fields are described where they stand."""
OF_SETTINGS = {"PR01", "SA01", "EX01"}
"""Parameters, See Also and Examples are missing: asked of functions and of settings."""
UNMADE = ("families.Base", "families.LinearLaws", "families.PredictiveGaussian")
"""What new families derive from, and one whose file has no line left."""


def sections(words: str) -> dict[str, list[str]]:
    """Return the lines of each section by its heading."""
    found: dict[str, list[str]] = {}
    lines = words.split("\n")
    heading = ""
    for line, under in zip(lines, [*lines[1:], ""], strict=True):
        if line and under == "-" * len(line):
            heading = line
            found[heading] = []
        elif heading and line != "-" * len(heading):
            found[heading].append(line)
    return found


@pytest.mark.parametrize("name", NAMES)
def test_every_parameter_is_described_with_its_type(name: str) -> None:
    offered = getattr(suffice, name)
    found = sections(inspect.getdoc(offered) or "")
    assert set(SECTIONS) <= set(found)
    assert inspect.isclass(offered) or "Returns" in found
    described = [line for line in found["Parameters"] if line and not line.startswith(" ")]
    assert all(" : " in line for line in described), described
    told = [part.strip(" *") for line in described for part in line.split(" : ")[0].split(",")]
    assert told == [p for p in inspect.signature(offered).parameters if p != "self"]


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_numpydoc_has_nothing_to_object_to(name: str) -> None:
    numpydoc = pytest.importorskip("numpydoc.validate", reason="numpydoc is not installed")
    found = [
        error for error in numpydoc.validate(f"suffice.{name}")["errors"] if error[0] != "ES01"
    ]
    assert found == []  # ES01 asks for a second paragraph, which not every name needs


@pytest.mark.slow
@pytest.mark.parametrize("name", BEHIND)
def test_numpydoc_has_nothing_to_object_to_behind_facades(name: str) -> None:
    numpydoc = pytest.importorskip("numpydoc.validate", reason="numpydoc is not installed")
    found = {error[0] for error in numpydoc.validate(f"suffice.{name}")["errors"]} - {"ES01"}
    facade, _, offered = name.partition(".")
    made = inspect.isclass(getattr(getattr(suffice, facade), offered))
    if name.startswith((*LAWS, *INSIDE)):
        found -= {*OF_SETTINGS, "RT01"}
    elif made and (not name.startswith(SETTINGS) or name.startswith(UNMADE)):
        found -= OF_SETTINGS
    assert found == set()


def test_no_words_are_still_to_come() -> None:
    """A placeholder satisfies numpydoc, and tells nobody anything."""
    promised = re.compile(r"\b(TODO|FIXME)\b")
    sources = sorted(SOURCE.rglob("*.py"))
    assert sources
    assert not [str(each) for each in sources if promised.search(each.read_text("utf-8"))]


def test_help_is_shorter_than_that_of_scikit_learn() -> None:
    ours = pydoc.render_doc(suffice.GaussianDiscriminant, renderer=pydoc.plaintext).splitlines()
    theirs = pydoc.render_doc(LogisticRegression, renderer=pydoc.plaintext).splitlines()
    assert len(ours) < len(theirs)
    brief = inspect.getdoc(suffice.GaussianDiscriminant.set_fit_request)
    assert len((brief or "").splitlines()) == 1  # scikit-learn's own has forty
