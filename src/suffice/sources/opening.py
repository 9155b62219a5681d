"""One function for whatever holds rows somewhere else than in an array."""

from __future__ import annotations

import errno
import glob
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from suffice.errors import BadFile, BadSetting, NotANumber
from suffice.passwords import without_secrets
from suffice.tables.table_bytes import STDIN

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from suffice.sources.source import Source

WILD = frozenset("*?[")
"""Characters that make a path a pattern of several."""
ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
"""How the address of a database begins, and no path does."""


def is_source(data: object) -> bool:
    """Return whether data are rows that are not in memory here.

    Parameters
    ----------
    data : object
        Anything.

    Returns
    -------
    bool
        True for a path, a stream, a table of a database or a cluster.

    See Also
    --------
    open_source : Opens it.

    Examples
    --------
    >>> is_source("data.parquet"), is_source([[1.0]])
    (True, False)
    """
    if isinstance(data, (str, Path)):
        return True
    from suffice.sources.source import Source

    return isinstance(data, Source) or _library(data) in _OPENERS or _is_arrow_source(data)


def open_source(
    data: object,
    name: str | None = None,
    *,
    delimiter: str | None = None,
    header: bool | None = None,
    expected: Collection[str] = (),
    encoding: str | None = None,
    sheet: str | None = None,
) -> Source:
    r"""Return rows as a source, wherever they are.

    | given                                   | read                                           |
    |-----------------------------------------|------------------------------------------------|
    | a path, a glob, a folder, a list of paths | Parquet, CSV (.gz too), Arrow, JSON, .xlsx   |
    | a pyarrow dataset, table or reader      | record batch by record batch                   |
    | anything with an Arrow stream           | the same: Polars, DuckDB relations, ...        |
    | "duckdb://file.db?table=t"              | a table of a database: see `open_address`      |

    Parameters
    ----------
    data : path, list of paths, str or stream
        What there is to read.
    name : str or None, default=None
        What it is called in refusals; None finds a name.
    delimiter : str or None, default=None
        What separates cells of a file of text; None detects it.
    header : bool or None, default=None
        Whether the first line names the columns; None detects it.
    expected : collection of str, default=()
        Names of columns, which help to find the header.
    encoding : str or None, default=None
        How characters are written; None detects it.
    sheet : str or None, default=None
        The sheet of a workbook; None is the first.

    Returns
    -------
    Source
        The rows, ready to be read part by part.

    See Also
    --------
    sql_source : Of a connection to a database.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> place = Path(tempfile.mkdtemp()) / "rows.csv"
    >>> _ = place.write_text("size,kind\n1.5,rose\n0.4,daisy\n")
    >>> open_source(place).names
    ('size', 'kind')
    """
    from suffice.sources.source import Source

    if isinstance(data, Source):
        return data
    if isinstance(data, (str, Path)):
        data = [data]
    if isinstance(data, (list, tuple)) and data and all(isinstance(p, (str, Path)) for p in data):
        addresses = [one for one in data if is_address(one)]
        if not addresses:
            return _of_paths(
                data, name, delimiter=delimiter, header=header, expected=expected,
                encoding=encoding, sheet=sheet,
            )  # fmt: skip
        from suffice.sources.sql.addresses import open_address

        if len(data) == 1:
            return open_address(str(data[0]), name)
        raise BadSetting(
            f"{len(data)} places are given, and one of them is a database",
            hint="learn from one after the other, and merge the models",
        )
    opener = _OPENERS.get(_library(data))
    if opener is not None:
        found: Source | None = opener(data, name)
        if found is not None:
            return found
    raise NotANumber(
        f"rows cannot be read from a {type(data).__name__}",
        hint="give a path, a frame, an Arrow stream, or a table of a database or of Spark",
    )


def _library(data: object) -> str:
    return type(data).__module__.partition(".")[0].lstrip("_")


def is_address(data: object) -> bool:
    """Whether a text names a place by its scheme, as `postgresql://…` does.

    >>> is_address("duckdb://flights.db?table=t"), is_address("flights.csv")
    (True, False)
    """
    return isinstance(data, str) and ADDRESS.match(data) is not None


def paths_of(given: Sequence[str | Path]) -> list[str | Path]:
    """Return the files that some paths stand for: globs and folders in their sorted order."""
    paths: list[str | Path] = []
    for one in given:
        text = str(one)
        if WILD & set(text) and not Path(text).exists():
            found = sorted(glob.glob(text, recursive=True))  # noqa: PTH207  `**` and absolute
            if not found:
                shown = without_secrets(text)
                raise BadFile(f"no file matches {shown}", hint="is the pattern right?")
            paths += found
        elif Path(text).is_dir():
            inside = sorted(p for p in Path(text).rglob("*.parquet") if not _hidden(p, Path(text)))
            if not inside:
                raise BadFile(
                    f"{text} is a folder without Parquet files", hint=f"name files: '{text}/*.csv'"
                )
            paths += inside
        elif text == STDIN or Path(text).exists():
            paths.append(one)
        else:
            shown = without_secrets(text)  # a mistyped address ends here
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), shown)
    return paths


def _of_paths(given: Sequence[str | Path], name: str | None, **reading: Any) -> Source:
    """Return the files of some paths as one source."""
    from suffice.sources.parquet import ParquetSource
    from suffice.sources.table_files import TableSource

    paths = paths_of(given)
    called = name or (str(given[0]) if len(given) == 1 and str(given[0]) != STDIN else None)
    kinds = {_is_parquet(path) for path in paths}
    if kinds == {True}:
        return ParquetSource([Path(path) for path in paths], called)
    if kinds == {False}:
        return TableSource(paths, called, **reading)
    raise BadFile(
        f"{called or paths[0]}: some of the files are Parquet and some are not",
        hint="read those of one kind at a time, and merge the models",
    )


def _hidden(path: Path, folder: Path) -> bool:
    return any(part.startswith(("_", ".")) for part in path.relative_to(folder).parts)


def _is_parquet(path: str | Path) -> bool:
    if str(path) == STDIN or not Path(path).is_file():
        return False  # of a pipe, nothing can be read twice
    with Path(path).open("rb") as file:
        return file.read(4) == b"PAR1"


# Libraries, each told by the name of its module and imported by nobody else


def _is_arrow_source(data: object) -> bool:
    return _library(data) == "pyarrow" or hasattr(data, "__arrow_c_stream__")


def _of_arrow(data: object, name: str | None) -> Source | None:
    import pyarrow as pa
    from pyarrow import dataset

    from suffice.sources.arrow_streams import ArrowSource

    if isinstance(data, dataset.Dataset):
        return ArrowSource(
            data.schema,
            lambda names: data.to_batches(columns=names),
            name or "the dataset",
            size=None,
        )
    if isinstance(data, pa.RecordBatchReader):
        return ArrowSource(data.schema, lambda _: data, name or "the reader", once=True)
    if isinstance(data, (pa.Table, pa.RecordBatch)):
        table = data if isinstance(data, pa.Table) else pa.Table.from_batches([data])
        return ArrowSource(
            table.schema,
            lambda names: table.select(names).to_batches(),
            name or "the table",
            size=table.num_rows,
        )
    return None


def _of_spark(data: object, name: str | None) -> Source | None:
    from suffice.sources.spark import open_spark

    return open_spark(data, name)


def _of_dask(data: object, name: str | None) -> Source | None:
    from suffice.sources.dask import open_dask

    return open_dask(data, name)


def _of_polars(data: object, name: str | None) -> Source | None:
    from suffice.sources.polars import open_polars

    return open_polars(data, name)


def _of_duckdb(data: object, name: str | None) -> Source | None:
    from suffice.sources.sql.duckdb import open_duckdb

    return open_duckdb(data, name)


def _of_ibis(data: object, name: str | None) -> Source | None:
    from suffice.sources.sql.ibis import open_ibis

    return open_ibis(data, name)


def _of_narwhals(data: object, name: str | None) -> Source | None:
    import narwhals as nw

    return open_source(nw.to_native(data), name) if isinstance(data, nw.LazyFrame) else None


_OPENERS: dict[str, Any] = {
    "duckdb": _of_duckdb,
    "ibis": _of_ibis,
    "narwhals": _of_narwhals,
    "pyarrow": _of_arrow,
    "pyspark": _of_spark,
    "dask": _of_dask,
    "polars": _of_polars,
}
"""Who opens what, by the library that its type is from."""
