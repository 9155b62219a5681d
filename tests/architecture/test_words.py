"""Phrases that were hard to read do not come back, in any sentence of the package or its pages."""

from __future__ import annotations

import re

import pytest

from tests.conftest import ROOT
from tests.reference.sentences import Sentence, sentences

GONE = (
    "does not begin like one",
    "Folders are not made",
    "Parts of the rows",
    "By default it is found out",
    "learned apart",
    "fitted apart",
    "told likewise",
    "cannot make rows up",
    "it says nothing about p(x)",
    "its coefficients are no sums",
    "no table that is known",
    "Not to be told from the best",
    "tell nothing about other rows",
    "as good as none",
    "loses less by",
    "middling certainty",
    "negatives taken for positives",
    "thing to worry about",
    "To worry about",
    "How sure:",
    "of truths",
    "in words what MODEL holds",
    "Let MODEL ",
    "Say whether MODEL",
    "How characters are written",
    "Replace a file that is there",
    "makes its data",
    "makes its rows",
    "makes up",
    "make rows up",
    "Printed are",
    "stands in",
    "lives on that support",
    "does not go with",
    "does not belong to covariance",
    "has no form in SQL",
    "has no form on a page",
    "where the most",
    "are the most that are",
    "It holds its statistics",
    "whoever has",
    "somebody else since",
    "while there was more to be gained",
    "Nothing that these figures show",
    "taken at their word",
    "claimed probability",
    "share of errors",
    "errs no more than",
    "loses more by",
    "by these rows:",
    "begin anew",
    "one a line",
    "nothing to tell apart",
    "no meaning beside",
    "the weight of all that",
    "compute them unasked",
    "plain form to store",
    "with a cell and a weight",
    "row with a cell",
    "rows with a cell",
    "as many factors as columns are any",
    "by the numbers of its words",
    "is believed in part",
    "sizes of their own",
    "directions of their own",
    "a note tells",
    "it tells so",
    "leaves no row in doubt",
    "rows are in doubt",
    "the same twice is one learning",
    "for those to say who",
    "vary alike",
    "parts the classes",
    "are none of",
    "is none of",
    "drift that these rows can show",
    "as its settings say",
    "what there is",
    "makes others of them",
    "knows none",
    "has chosen already",
    "than never",
    "no file form",
    "beyond all that can be fitted",
    "of no type that is",
    "in full is above",
    "does nobody else",
    "classes of as many rows",
    "held back",
    "the signed root of it",
    "columns go together by",
    "finds worth it",
    "law has no density",
)
"""Each had to be read twice; what stands there now is plain."""


NEGATION = re.compile(
    r"(?<!there )(?<!There )\b(?:is|are|was|were) no "
    r"(?:whole number|number|label|class|time|seed|list|text|table|cell|row|object|date|sum)s?\b"
)
"""\"12 kg is no number\": people say that it is not a number."""


@pytest.fixture(scope="module")
def spoken() -> list[Sentence]:
    return list(sentences())


@pytest.fixture(scope="module")
def pages() -> dict[str, str]:
    """Every page of the documents with its lines run together, as sentences are."""
    found = [*(ROOT / "docs").glob("*.md"), ROOT / "README.md"]
    return {page.name: " ".join(page.read_text("utf-8").split()) for page in found}


def test_the_list_of_sentences_has_those_of_every_kind(spoken: list[Sentence]) -> None:
    found = {sentence.text for sentence in spoken}
    assert any("is not a model file" in text for text in found)  # a refusal
    assert any(text.startswith("Learn a model from TABLE") for text in found)  # help of a command
    assert any("Number of cross-validation folds" in text for text in found)  # of an option


@pytest.mark.parametrize("phrase", GONE)
def test_hard_phrases_do_not_come_back(
    phrase: str, spoken: list[Sentence], pages: dict[str, str]
) -> None:
    said = [f"{one.file}:{one.line}" for one in spoken if phrase in one.text]
    written = [page for page, text in pages.items() if phrase in text]
    assert [*said, *written] == []


def test_what_a_value_is_not_is_said_plainly(spoken: list[Sentence], pages: dict[str, str]) -> None:
    said = [f"{one.file}:{one.line}: {one.text}" for one in spoken if NEGATION.search(one.text)]
    written = [page for page, text in pages.items() if NEGATION.search(text)]
    assert [*said, *written] == []
