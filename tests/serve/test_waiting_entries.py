"""Rows that are acknowledged, and learned when somebody looks: nothing else may follow from it."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import suffice
from suffice.errors import SufficeError
from suffice.serve.served_model import ServedModel
from suffice.serve.state.entries import LogEntry
from suffice.serve.state.held_models import MOST_WAITING, learned_entries, learned_later
from tests.serve.conftest import LABELS, ROWS

if TYPE_CHECKING:
    from pathlib import Path

BLANKS = 11
"""Columns whose cells are blank or not: 2,048 patterns, of which a model keeps a thousand."""


def opened(path: Path) -> ServedModel:
    return ServedModel.of_bytes(path.stem, path.read_bytes(), str(path))


def entries_of(model: ServedModel, size: int) -> list[LogEntry]:
    """Return requests of one to three rows, as the log has them."""
    rng = np.random.default_rng(size)
    found = []
    for i in range(size):
        rows, labels = [], []
        for _ in range(int(rng.integers(1, 4))):
            if model.columns.named:
                which = int(rng.integers(len(ROWS)))
                rows.append(tuple(ROWS[which][name] for name in model.columns.names))
                labels.append(LABELS[which])
            elif model.stored.estimator == "TextClassifier":
                rows.append((["red rose thorn", "white daisy chain"][i % 2],))
                labels.append(["rose", "daisy"][i % 2])
            else:
                rows.append(tuple(rng.integers(0, 2, 3).astype(float).tolist()))
                labels.append(int(rng.integers(3)))
        found.append(LogEntry(str(i), rows, labels))
    return found


@pytest.mark.parametrize(
    "kind",
    ["gda", "qda", "naive_bayes", "multinomial", "complement", "bernoulli", "text", "pool"],
)
def test_a_model_that_nobody_looks_at_becomes_the_same(kind: str, model_files: Path) -> None:
    first = opened(model_files / f"{kind}.suffice")
    entries = entries_of(first, 12)
    unseen, looked, at_once = first, first, first
    for i, entry in enumerate(entries):
        unseen = learned_later(unseen, [entry])
        looked = learned_later(looked, [entry])
        if i % 3:
            assert looked.learned.labels
        at_once = learned_entries(at_once, [entry])
    if kind not in ("text", "pool"):
        assert unseen.later is not None
        assert not unseen.is_ready
        assert first.later is None
    probes = [entry.rows[0] for entry in entries]
    expected = at_once.predict(at_once.reader.table_of_plain(probes)).posterior
    for model in (unseen, looked):
        found = model.predict(model.reader.table_of_plain(probes)).posterior
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)
        assert model.classes == at_once.classes
    weights = [model.learned.statistics.weight for model in (unseen, looked, at_once)]
    assert weights[0] == weights[1] == weights[2]


def test_rows_do_not_wait_without_end(model_files: Path) -> None:
    model = opened(model_files / "qda.suffice")
    entry = LogEntry("a", [(1.0, 2.0, 3.0)] * 300, [1] * 300)
    waits = []
    for _ in range(5):
        model = learned_later(model, [entry])
        waits.append(model.later is not None)
    assert MOST_WAITING // 300 == 3
    assert waits == [True, True, True, False, True]
    assert model.learned.statistics.weight == 60 + 5 * 300


@pytest.mark.parametrize(
    ("kind", "row", "label"),
    [
        ("multinomial", (1.0, -1.0, 0.0), 1),
        ("bernoulli", (0.0, 1.0, 1.0), "red"),
        ("gda", (1e200, "red", True), "rose"),
    ],
)
def test_what_cannot_be_learned_is_refused_before_it_is_acknowledged(
    kind: str, row: tuple[Any, ...], label: Any, model_files: Path
) -> None:
    """Without the look at what the learner reads, the row would be in the log for good."""
    model = opened(model_files / f"{kind}.suffice")
    good = entries_of(model, 1)[0]
    model = learned_later(model, [good])
    with pytest.raises(SufficeError):
        learned_later(model, [LogEntry("bad", [row], [label])])
    assert model.learned.statistics.weight


def test_new_classes_and_categories_are_learned_at_once(model_files: Path) -> None:
    model = opened(model_files / "gda.suffice")
    for row, label in (((1.0, "mauve", True), "rose"), ((1.0, "red", True), "tulip")):
        found = learned_later(model, [LogEntry("a", [row], [label])])
        assert found.later is None
        assert label in found.classes


def test_patterns_of_blanks_are_counted_before_rows_wait(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, BLANKS))
    suffice.GaussianDiscriminant().fit(X, np.arange(50) % 2).save(tmp_path / "wide.suffice")
    model = opened(tmp_path / "wide.suffice")
    patterns = list(product((0.5, None), repeat=BLANKS))[:-1]
    for start in range(0, 1000, 200):
        some = [tuple(row) for row in patterns[start : start + 200]]
        model = learned_later(model, [LogEntry(str(start), some, [0] * len(some))])
    more = LogEntry("more", [tuple(row) for row in patterns[1000:]], [0] * len(patterns[1000:]))
    with pytest.raises(SufficeError, match="patterns of missing cells"):
        learned_later(model, [more])
    assert model.learned.statistics.weight == 1050
