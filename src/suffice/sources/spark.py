"""DataFrames of Spark: only statistics leave the cluster, and only answers enter it."""

from __future__ import annotations

import pickle
import re
import warnings
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeVar

from suffice.engines.parts import Mergeable
from suffice.errors import BadRows, BadSetting, ColumnMismatch, SufficeError
from suffice.places import Place
from suffice.sources.chunks import chunk_of
from suffice.sources.partitions import WIDTH, alone, answered, distinct_names, merged
from suffice.sources.source import Source, Wanted
from suffice.sources.spark_tasks import (
    PARTIALS,
    carried,
    carrying,
    of_partials,
    of_partition,
    partition,
)
from suffice.tables.table_file import missing_columns

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from suffice.rows.tables import Table
    from suffice.sources.source import Chunk


__all__ = ["SparkSource", "predictions", "spark_at_work"]

S = TypeVar("S", bound=Mergeable)

DIRECT = 1 << 25
"""Bytes of summaries that the driver takes from all partitions without a merge on the cluster."""


class SparkSource(Source):
    """A Spark DataFrame: each partition is summarized by the worker that holds it.

    Summaries are merged in the order of the partitions. Where the partitions are the same and hold
    the same rows in the same order, the result is the same to the last bit; behind a shuffle Spark
    promises no order of rows, and the result is the same to rounding.

    moved  about how many bytes the summaries of all partitions had at the last collect, or None
    """

    def __init__(self, frame: Any, name: str | None = None) -> None:
        self.name = name or "the Spark DataFrame"
        self._frame = frame
        with spark_at_work(self.name):
            self.names = distinct_names(frame.columns, self.name)
        self._chosen: dict[tuple[str, ...], object] = {}
        self.moved: int | None = None
        self._count: int | None = None

    def collect(self, summarize: Callable[[Chunk], S], wanted: Wanted) -> S | None:
        """Return the merged summary of all rows, by partition; None: no rows.

        One job. How many partitions there are is not known before the first; so that one merges
        on the cluster, and later ones only if there is much to merge.
        """
        with spark_at_work(self.name):
            task = of_partition(summarize, wanted, WIDTH)
            partials = self._rows(wanted).mapInArrow(task, PARTIALS)
            if self.moved is None or self.moved > DIRECT:
                near = partials.repartition("bucket").sortWithinPartitions("part")
                partials = near.mapInArrow(of_partials, PARTIALS)
            found = sorted(partials.collect(), key=lambda row: row["part"])
        self.moved = sum(row["many"] * len(row["payload"]) for row in found)
        buckets: dict[int, list[Any]] = {}
        for row in found:
            # The cluster's own: as trustworthy as the function that was sent there.
            held = pickle.loads(row["payload"])  # noqa: S301
            buckets.setdefault(row["bucket"], []).append(held)
        # Bucket by bucket, so that it makes no difference who merged within them.
        found_in: list[Any] = [merged(held) for held in buckets.values()]
        whole: S | None = answered(merged(found_in), self.name)
        return whole

    def some(self, wanted: Wanted, size: int) -> Chunk | None:
        """Return all rows if there are no more than `size`; else about so many, drawn by a seed."""
        rows = self._rows(wanted)
        with spark_at_work(self.name):
            if self._count is None:
                self._count = int(rows.count())
            if self._count > size:
                drawn = rows.sample(fraction=size / self._count, seed=0).toArrow()
                table = drawn if drawn.num_rows else rows.limit(size).toArrow()
            else:
                table = rows.toArrow()
        if not table.num_rows:
            return None
        batch = table.rename_columns(list(wanted.all)).combine_chunks().to_batches()[0]
        return chunk_of(batch, wanted, Place(self.name))

    @contextmanager
    def kept(self, wanted: Wanted) -> Iterator[None]:
        """Keep the wanted columns in the cluster's memory, or on its disks, inside the block.

        For learners that read the rows many times.
        """
        with spark_at_work(self.name):
            rows = self._rows(wanted).persist()
        self._chosen[wanted.all] = rows
        try:
            yield
        finally:
            with spark_at_work(self.name):
                rows.unpersist()
            self._chosen.pop(wanted.all, None)

    def _rows(self, wanted: Wanted) -> Any:
        """Return the wanted columns, in their order, named by their place."""
        found = self._chosen.get(wanted.all)
        if found is None:
            places = [self.names.index(name) for name in wanted.all]
            with spark_at_work(self.name):
                renamed = self._frame.toDF(*(f"c{place}" for place in range(len(self.names))))
                found = renamed.select(*(f"c{place}" for place in places))
            self._chosen[wanted.all] = found
        return found


def open_spark(data: object, name: str | None) -> Source | None:
    """Return a Spark DataFrame as a source; None for whatever else is Spark's."""
    frames = import_module("pyspark.sql")
    return SparkSource(data, name) if isinstance(data, frames.DataFrame) else None


PREDICTION = "prediction"
PROBABILITY = "probability"


def predictions(
    model: object, frame: Any, proba: bool = False, columns: Sequence[str] | None = None
) -> object:
    """Return a Spark DataFrame with a column `prediction` more, what `model.predict` says.

    With `proba` there is `probability` too: an array for each row, in the order of
    `model.classes_`. `columns` names what the model looks at where it knows no names itself.
    Nothing runs until Spark is asked for rows. The model travels to every task, and every column of
    the frame passes through it: select first what is needed.

        predictions(model, spark.table("flowers"), proba=True).write.parquet("answers")

    A row that the model refuses fails Spark's job, with the partition and the row near the end
    of its traceback. Inside `with spark_at_work("the answers"):` the refusal arrives as itself.
    """
    with spark_at_work("the Spark DataFrame"):
        names = distinct_names(frame.columns, "the Spark DataFrame")
        seen = _model_columns(model, columns)
        lacking = [name for name in seen if name not in names]
        if lacking:
            raise missing_columns("the Spark DataFrame", lacking, names)
        added = (PREDICTION, PROBABILITY) if proba else (PREDICTION,)
        taken = [name for name in added if name in names]
        if taken:
            raise ColumnMismatch(
                f"the Spark DataFrame has a column {taken[0]!r} already",
                hint=f'rename it: frame.withColumnRenamed("{taken[0]}", "...")',
            )
        # Named by their place: no name of theirs is ever read as an expression.
        rows = frame.toDF(*(f"c{place}" for place in range(len(names))))
        places = [names.index(name) for name in seen]
        task = _answers(pickle.dumps(model, protocol=5), seen, places, proba)
        return rows.mapInArrow(task, _schema(rows.schema, model, added)).toDF(*names, *added)


def _model_columns(model: Any, columns: Sequence[str] | None) -> tuple[str, ...]:
    """Return the names of the columns that a model looks at."""
    known = getattr(model, "feature_names_in_", None)
    if known is not None and columns is None:
        return tuple(str(name) for name in known)
    if columns is None:
        raise BadSetting(
            "the model was fitted on rows without column names, and Spark finds columns by name",
            hint='name the columns of the model, in their order: columns=["x", ...]',
        )
    width = int(model.n_features_in_)
    if len(columns) != width:
        raise ColumnMismatch(
            f"{len(columns)} columns are named, but the model uses {width}",
            hint="name them in the order in which it was fitted",
        )
    return tuple(columns)


def _schema(rows: Any, model: Any, added: tuple[str, ...]) -> object:
    types = import_module("pyspark.sql.types")
    kinds = {"b": types.BooleanType(), "i": types.LongType(), "u": types.LongType()}
    kinds["f"] = types.DoubleType()
    label = kinds.get(model.classes_.dtype.kind, types.StringType())
    found = [types.StructField(PREDICTION, label)]
    if PROBABILITY in added:
        found.append(types.StructField(PROBABILITY, types.ArrayType(types.DoubleType())))
    return types.StructType([*rows.fields, *found])


def _answers(
    held: bytes, seen: tuple[str, ...], places: list[int], proba: bool
) -> Callable[[Iterable[Any]], Iterator[Any]]:
    def task(batches: Iterable[Any]) -> Iterator[Any]:
        pa = import_module("pyarrow")
        model: Any = pickle.loads(held)  # noqa: S301  the driver's own
        named = hasattr(model, "feature_names_in_")
        part, start = partition(), 1
        for batch in batches:
            if not batch.num_rows:
                continue
            place = Place(f"partition {part}", start, start + batch.num_rows - 1)
            start += batch.num_rows
            wanted = batch.select(places).rename_columns(list(seen))
            columns = {name: batch.column(name) for name in batch.schema.names}
            with _placed(place):
                table: Table = chunk_of(wanted, Wanted(seen), place).table
                rows = table if named or table.matrix is None else table.matrix
                columns[PREDICTION] = pa.array(alone(partial(model.predict, rows)).tolist())
                if proba:
                    each = alone(partial(model.predict_proba, rows)).tolist()
                    columns[PROBABILITY] = pa.array(each, pa.list_(pa.float64()))
            yield pa.record_batch(columns)

    return task


@contextmanager
def _placed(place: Place) -> Iterator[None]:
    """Let refusals inside the block say where the rows were."""
    try:
        yield
    except SufficeError as error:
        raise carrying(error.at(place)) from None


_LIBRARIES = frozenset({"pyspark", "py4j", "grpc"})
"""Where errors come from that tell of a cluster: its own, those of the driver's bridge and of
Connect."""
_ABOUT_PANDAS = "PySpark does not yet fully support pandas"
"""A warning about what PySpark itself does, which a user can do nothing about."""
_SET_PYTHON = (
    "the workers need the driver's Python version with suffice installed: name it by "
    "PYSPARK_PYTHON or spark.pyspark.python before the session starts, or send an environment "
    "along by spark.archives (Connect: addArtifacts(..., archive=True))"
)
"""The hint for workers that lack Python, a module, or the right version of either."""
_NO_PYTHON = re.compile(r'Cannot run program "([^"]+)"')
"""What the JVM says where a worker has no such program."""
_NO_MODULE = re.compile(r"No module named '([^']+)'")
"""What a worker's Python says where it lacks a module."""
_NO_PACKAGE = re.compile(r"PACKAGE_NOT_INSTALLED\]\s*(\S+)")
"""What PySpark says where it lacks one that it needs itself."""
_OTHER_PYTHON = re.compile(r"different version: (\S+) than that in driver: ([\d.]*\d)")
"""What PySpark says where worker and driver have different versions."""


@contextmanager
def spark_at_work(name: str) -> Iterator[None]:
    """Turn Spark's failures inside the block into refusals about the source of that name.

    What a worker refused as ours is raised as that.
    """
    with warnings.catch_warnings():
        # Rows travel as Arrow here: whatever pandas is installed has no part in it.
        warnings.filterwarnings("ignore", message=_ABOUT_PANDAS, category=FutureWarning)
        try:
            yield
        except Exception as error:
            if type(error).__module__.partition(".")[0] not in _LIBRARIES:
                raise
            ours = carried(str(error))
            refusal = ours or refusal_of(str(error), name)
            if ours is not None or not isinstance(refusal, BadRows):
                raise refusal from None  # nothing of Spark's own to add
            raise refusal from error


def refusal_of(text: str, name: str) -> SufficeError:
    """Return what a failure of Spark itself comes to.

    >>> print(refusal_of("... ModuleNotFoundError: No module named 'suffice'", "the rows").problem)
    the workers of Spark have no module 'suffice'
    """
    if found := _NO_MODULE.search(text) or _NO_PACKAGE.search(text):
        return BadSetting(f"the workers of Spark have no module {found[1]!r}", hint=_SET_PYTHON)
    if found := _NO_PYTHON.search(text):
        return BadSetting(f"the workers of Spark have no Python {found[1]!r}", hint=_SET_PYTHON)
    if found := _OTHER_PYTHON.search(text):
        return BadSetting(
            f"the workers of Spark run Python {found[1]}, and the driver {found[2]}",
            hint=_SET_PYTHON,
        )
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    raised = [line for line in lines if re.match(r"[\w.]+(Error|Exception|Interrupt)\b", line)]
    if raised and any(line.startswith("Traceback") for line in lines):
        said = f"{name}: a worker of Spark failed: {raised[-1]:.300}"
    else:
        said = f"{name} cannot be read: {[*lines, 'Spark does not say why'][0]:.300}"
    return BadRows(said, hint="does frame.count() work? The full message of Spark is above")
