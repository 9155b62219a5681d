"""A collection that is killed and begun again ends at the same bits."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import csv, parquet
from sklearn.base import clone

import suffice
from suffice import GaussianDiscriminant, NaiveBayes, collect
from suffice.engines.parts import Progress, collect_parts
from suffice.errors import BadFile, BadSetting
from suffice.learning import checkpoints
from suffice.sources import local
from suffice.tables import table_file as tables

KILLS = 4
"""How often a run is killed here; the evidence kills fifty."""


class Stopped(Exception):
    """What ends a run in the middle."""


@pytest.fixture(autouse=True)
def _write_always(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkpoints, "EVERY", 0.0)
    monkeypatch.setattr(local, "CELLS", 400)
    monkeypatch.setattr(tables, "CELLS", 400)


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    """Return a folder with the same rows as Parquet and as CSV."""
    rng = np.random.default_rng(3)
    x = rng.normal(size=1500)
    x[rng.random(1500) < 0.05] = np.nan
    colours = rng.choice(["red", "blue", "pale"], 1500, p=[0.6, 0.399, 0.001])
    table = pa.table(
        {"x": x, "z": 1e7 + x**2, "colour": colours, "y": rng.choice(list("abc"), 1500)}
    )
    parquet.write_table(table, tmp_path / "a.parquet", row_group_size=170)
    csv.write_csv(table, tmp_path / "a.csv")
    return tmp_path


def bits(model: Any) -> bytes:
    """Return everything that a model holds."""
    arrays = model.statistics_.to_arrays()
    return b"".join(np.ascontiguousarray(arrays[name]).tobytes() for name in sorted(arrays))


def stopping(after: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a run write `after` times, and then end."""
    write_if_due = checkpoints.Checkpoint.write_if_due
    left = after

    def counted(self: checkpoints.Checkpoint, progress: Progress[Any]) -> None:
        nonlocal left
        write_if_due(self, progress)
        left -= 1
        if left <= 0:
            raise Stopped

    monkeypatch.setattr(checkpoints.Checkpoint, "write_if_due", counted)


@pytest.mark.parametrize("name", ["a.parquet", "a.csv"])
@pytest.mark.parametrize(
    "learner",
    [GaussianDiscriminant(), GaussianDiscriminant("per-class"), NaiveBayes()],
    ids=["shared", "per class", "naive Bayes"],
)
@pytest.mark.parametrize("after", [1, 3, 5])
def test_a_run_that_was_stopped_again_and_again_ends_at_the_same_bits(
    name: str, learner: Any, after: int, rows: Path
) -> None:
    whole = clone(learner).fit(rows / name, target="y")
    runs = 0
    while True:
        runs += 1
        with pytest.MonkeyPatch.context() as patch:
            stopping(after, patch)
            try:
                model = clone(learner).fit(rows / name, target="y", checkpoint=rows / "state")
                break
            except Stopped:
                assert runs < 100
    assert runs > 1
    assert bits(model) == bits(whole)


@given(
    sizes=st.lists(st.integers(0, 6), min_size=1, max_size=6),
    stops=st.lists(st.integers(0, 20), max_size=5),
)
def test_parts_collected_in_several_runs_are_merged_as_in_one(
    sizes: list[int], stops: list[int]
) -> None:
    class Text(str):
        """Merging is visible: brackets show in which order it was done."""

        __slots__ = ()

        def __add__(self, other: str) -> Text:
            return Text(f"({super().__str__()}{other})")

    def part(place: int) -> Any:
        return lambda: [f"{place}.{batch} " for batch in range(sizes[place])]

    parts = [part(place) for place in range(len(sizes))]
    whole = collect_parts(Text, parts)
    progress: Progress[Text] = Progress()
    for stop in stops:
        left = stop

        def told(_: object) -> None:
            nonlocal left
            left -= 1
            if left < 0:
                raise Stopped

        try:
            collect_parts(Text, parts, progress, told)
        except Stopped:
            continue
        break
    assert collect_parts(Text, parts, progress) == whole


@pytest.mark.process
@pytest.mark.slow
def test_a_process_that_is_killed_goes_on_where_it_was(rows: Path) -> None:
    program = (
        "import sys\n"
        "from suffice import GaussianDiscriminant\n"
        "from suffice.learning import checkpoints\n"
        "from suffice.sources import local\n"
        "checkpoints.EVERY, local.CELLS = 0.0, 400\n"
        "model = GaussianDiscriminant().fit('a.parquet', target='y', checkpoint='state')\n"
        "model.save('model.suffice')\n"
    )
    source = str(Path(suffice.__file__).parents[1])
    rng = np.random.default_rng(1)
    kills = 0
    while True:
        process = subprocess.Popen(
            [sys.executable, "-c", program], cwd=rows, env={**os.environ, "PYTHONPATH": source}
        )
        place = rows / "state"
        before = place.stat().st_mtime_ns if place.exists() else 0
        while kills < KILLS and process.poll() is None:  # until something was written
            if place.exists() and place.stat().st_mtime_ns != before:
                time.sleep(rng.random() * 0.01)
                process.send_signal(signal.SIGKILL)
                kills += 1
                break
            time.sleep(0.002)
        if process.wait(120) == 0:
            break
    whole = GaussianDiscriminant().fit(rows / "a.parquet", target="y")
    assert (rows / "model.suffice").exists()
    model = GaussianDiscriminant().fit(rows / "a.parquet", target="y", checkpoint=rows / "state")
    assert bits(model) == bits(whole)


def test_a_checkpoint_of_something_else_is_refused_and_kept(rows: Path) -> None:
    state = rows / "state"
    GaussianDiscriminant().fit(rows / "a.parquet", target="y", checkpoint=state)
    held = state.read_bytes()
    with pytest.raises(BadFile, match="belongs to another settings"):
        GaussianDiscriminant("per-class").fit(rows / "a.parquet", target="y", checkpoint=state)
    with pytest.raises(BadFile, match="belongs to another source"):
        GaussianDiscriminant().fit(rows / "a.csv", target="y", checkpoint=state)
    with pytest.raises(BadFile, match="belongs to another columns"):
        GaussianDiscriminant().fit(rows / "a.parquet", target="colour", checkpoint=state)
    assert state.read_bytes() == held
    os.utime(rows / "a.parquet", ns=(1, 1))
    with pytest.raises(BadFile, match="belongs to another source"):
        GaussianDiscriminant().fit(rows / "a.parquet", target="y", checkpoint=state)


def test_what_is_no_checkpoint_is_refused_and_kept(rows: Path) -> None:
    model = rows / "model.suffice"
    GaussianDiscriminant().fit(rows / "a.parquet", target="y").save(model)
    held = model.read_bytes()
    for place in (model, rows / "a.csv"):
        with pytest.raises(BadFile):
            GaussianDiscriminant().fit(rows / "a.parquet", target="y", checkpoint=place)
    assert model.read_bytes() == held


def test_streams_have_no_checkpoint(rows: Path) -> None:
    table = parquet.read_table(rows / "a.parquet")
    stream = pa.RecordBatchReader.from_batches(table.schema, table.to_batches())
    with pytest.raises(BadSetting, match="cannot be read from the middle"):
        GaussianDiscriminant().fit(stream, target="y", checkpoint=rows / "state")
    assert not (rows / "state").exists()


def test_statistics_alone_are_collected_with_a_checkpoint_too(rows: Path) -> None:
    found = collect(GaussianDiscriminant(), rows / "a.csv", "y", checkpoint=rows / "state")
    model = GaussianDiscriminant().fit(rows / "a.csv", target="y")
    ours, theirs = found.to_arrays(), model.statistics_.to_arrays()
    assert all(np.array_equal(ours[name], theirs[name]) for name in theirs)
