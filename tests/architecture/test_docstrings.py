"""Docstrings of public names, as numpydoc reads them: Jupyter, editors and the site parse these."""

from __future__ import annotations

import inspect
import pydoc

import pytest
from sklearn.linear_model import LogisticRegression

import suffice

NAMES = [name for name in suffice.__all__ if not name.islower() or callable(getattr(suffice, name))]
"""What `import suffice` offers, without its facades."""
SECTIONS = ("Parameters", "See Also", "Examples")
"""What every one of them has; functions have Returns too."""


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


def test_help_is_shorter_than_that_of_scikit_learn() -> None:
    ours = pydoc.render_doc(suffice.GaussianDiscriminant, renderer=pydoc.plaintext).splitlines()
    theirs = pydoc.render_doc(LogisticRegression, renderer=pydoc.plaintext).splitlines()
    assert len(ours) < len(theirs)
    brief = inspect.getdoc(suffice.GaussianDiscriminant.set_fit_request)
    assert len((brief or "").splitlines()) == 1  # scikit-learn's own has forty
