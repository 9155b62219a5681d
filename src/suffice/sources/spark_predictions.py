"""A model's answers as columns of a Spark DataFrame, found where the rows are."""

from __future__ import annotations

import pickle
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

from suffice.errors import BadSetting, ColumnMismatch, SufficeError
from suffice.tables.table_file import missing_columns
from suffice.sources.arrow_chunks import chunk_of
from suffice.sources.partitions import alone, distinct_names
from suffice.sources.source import Wanted
from suffice.sources.spark_refusals import spark_at_work
from suffice.sources.spark_tasks import partition

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

PREDICTION = "prediction"
PROBABILITY = "probability"


def predictions(
    model: Any, frame: Any, proba: bool = False, columns: Sequence[str] | None = None
) -> Any:
    """Return a Spark DataFrame with a column `prediction` more, what `model.predict` says.

    With `proba` there is `probability` too: an array for each row, in the order of
    `model.classes_`. `columns` names what the model looks at where it knows no names itself.
    Nothing runs until Spark is asked for rows. The model travels to every task, and every column of
    the frame passes through it: select first what is needed.

        predictions(model, spark.table("flowers"), proba=True).write.parquet("answers")

    A row that the model refuses fails Spark's job, with the partition and the row in the last line
    of its traceback. Inside `with spark_at_work("the answers"):` the refusal arrives as itself.
    """
    with spark_at_work("the Spark DataFrame"):
        names = distinct_names(frame.columns, "the Spark DataFrame")
        seen = _seen(model, columns)
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


def _seen(model: Any, columns: Sequence[str] | None) -> tuple[str, ...]:
    """Return the names of the columns that a model looks at."""
    known = getattr(model, "feature_names_in_", None)
    if known is not None and columns is None:
        return tuple(str(name) for name in known)
    if columns is None:
        raise BadSetting(
            "the model was fitted on rows without names, and columns have nothing but names",
            hint='say which columns it looks at, in their order: columns=["x", ...]',
        )
    width = int(model.n_features_in_)
    if len(columns) != width:
        raise ColumnMismatch(
            f"{len(columns)} columns are named, and the model looks at {width}",
            hint="name them in the order in which it was fitted",
        )
    return tuple(columns)


def _schema(rows: Any, model: Any, added: tuple[str, ...]) -> Any:
    types: Any = import_module("pyspark.sql.types")
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
        pa: Any = import_module("pyarrow")
        model: Any = pickle.loads(held)  # noqa: S301  the driver's own
        named = hasattr(model, "feature_names_in_")
        part, start = partition(), 1
        for batch in batches:
            if not batch.num_rows:
                continue
            place = f"partition {part}, rows {start} to {start + batch.num_rows - 1}"
            start += batch.num_rows
            wanted = batch.select(places).rename_columns(list(seen))
            columns = {name: batch.column(name) for name in batch.schema.names}
            with _placed(place):
                table: Any = chunk_of(wanted, Wanted(seen), place).table
                rows = table if named or table.matrix is None else table.matrix
                columns[PREDICTION] = pa.array(alone(partial(model.predict, rows)).tolist())
                if proba:
                    each = alone(partial(model.predict_proba, rows)).tolist()
                    columns[PROBABILITY] = pa.array(each, pa.list_(pa.float64()))
            yield pa.record_batch(columns)

    return task


@contextmanager
def _placed(place: str) -> Iterator[None]:
    """Let refusals inside the block say where the rows were."""
    try:
        yield
    except SufficeError as error:
        if error.problem.startswith(place):
            raise
        raise type(error)(f"{place}: {error.problem}", hint=error.hint) from None
