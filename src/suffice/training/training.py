"""From a table to a model, in one call: `suffice.train`, which is what `suffice fit` does."""

from __future__ import annotations

import time
import warnings
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from suffice.columns.shown import digits_shown, shown_by
from suffice.errors import BadLabels, SimilarLabels
from suffice.learning.table_recipe import LABEL_BINS, TableNotes
from suffice.learning.unlabelled.record import IGNORE, checked_unlabelled
from suffice.models.gaussian.forms import letters_of
from suffice.printing.model_names import usual_name
from suffice.rows.frames import eager_frame, is_from_frame_library
from suffice.statistics.quantile_bins import ColumnBins
from suffice.tables.table_reading import TableReading, bins_of
from suffice.training.decimals import STATE as DECIMALS
from suffice.training.hooks import Hooks
from suffice.training.model_choice import (
    AUTO,
    BEST,
    CHOICES,
    ONE_PASS,
    check_named,
    check_width,
    choose,
    named_model,
)
from suffice.training.saved_models import Saved
from suffice.training.table_columns.spelled_columns import check_declared
from suffice.training.table_columns.text_columns import READING, families_of
from suffice.training.trained import Trained
from suffice.training.training_rows import RowsMet, TrainingRows

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Mapping, Sequence

    from suffice.columns.filled import FilledColumns
    from suffice.evaluation.work_progress import ShowsProgress
    from suffice.learning.learned import Learned
    from suffice.learning.learner import Learner
    from suffice.models.typicality.outlier_rates import OutlierRates

TIME_LIMIT = 60.0
"""Seconds that comparing and judging models may take, if nobody says otherwise. A choice: as long
as one waits without doing something else."""


NO_POOL = "the best single model is chosen instead of a pool: {}, and a pool predicts from its rows"
"""What is said where "auto" means "best"."""


def train(
    data: object,
    y: object = None,
    *,
    target: str | None = None,
    model: str = AUTO,
    drop: Sequence[str] = (),
    delimiter: str | None = None,
    header: bool | None = None,
    decimal: str | None = None,
    columns: Mapping[str, str] | None = None,
    encoding: str | None = None,
    sheet: str | int | None = None,
    bins: int | str | Sequence[float] | None = None,
    random_state: int = 0,
    checkpoint: str | Path | None = None,
    time_limit: float | None = TIME_LIMIT,
    on_note: Callable[[str], object] | None = None,
    progress: ShowsProgress | None = None,
    **settings: object,
) -> Trained:
    r"""Train a model on a table as it is: the model that `suffice fit` writes.

    Words, yes and no, and blank cells may stay. Columns of texts, several words each, are read by
    naive Bayes beside all others; other columns of text that are different in nearly every row are
    left out, rows without a label too; a target that is a quantity is refused;
    models that cannot do with blanks have them filled. What was decided is in the result.

    Parameters
    ----------
    data : path, pattern, list of paths, frame, array or stream
        A path (CSV, Parquet, Arrow, JSON, .xlsx; .gz too), a pattern, a list of paths, the address
        of a table of a database, an Arrow stream, a frame, or an array (n, d) of rows.
    y : array-like, optional
        Labels (n,), where they are not a column of `data`.
    target : str, optional
        The column of labels.
    model : str, default "auto"
        "gda", "qda", "naive-bayes", "logistic", "mixture-discriminant", "text", or one that is
        chosen: "best" is the single model of least log-loss on held-out rows among those that
        `suffice.compare` tries; "auto" is what `suffice.compare` recommends: of at most 2,048 rows
        a pool of models, unless the best single one is better by more than one standard error.
    drop : sequence of str, default ()
        Columns that are left out.
    delimiter : str, optional
        What separates cells of a table of text; None detects it.
    header : bool, optional
        Whether the first line has the names of columns; None detects it.
    decimal : {".", ","}, optional
        How numbers are written; None detects it.
    columns : dict, optional
        What columns are, by name, where they are not what they look like: "number" (units such as
        12 kg are passed over), "category" (numbers that are codes), "ordered" (categories such as
        low, medium, high), "date" (numbers of spreadsheets too; "date-dmy" and "date-mdy" say what
        stands first), "text" (known by its words or bytes, which naive Bayes and
        pools read beside other columns), "id" or "ignore" (left out).
    encoding : str, optional
        Any that Python knows, such as "windows-1252"; None detects it.
    sheet : str or int, optional
        Which sheet of a workbook (.xlsx), by its name or its number from 1 on; None is the first.
    bins : int or sequence of float, optional
        Into how many classes of about as many rows a target that is a quantity is cut, or a list of
        the places where it is cut. The model keeps them: later tables have the quantity, too.
    random_state : int, default 0
        The seed by which "auto" parts the rows.
    checkpoint : str or Path, optional
        A file to which what was learned is written every ten seconds; see `fit`.
    time_limit : float, default 60.0
        Seconds that comparing and judging models may take; None is no limit. It is looked at
        between models and between folds, and the best so far is taken. A limit that is not reached
        changes nothing.
    on_note : callable, optional
        Called with each note as soon as it is made.
    progress : callable, optional
        Called when some work begins; see `suffice.training.ShowsProgress`.
    **settings : object
        Settings of a named model: `penalty=1.0` for "logistic", `covariance="auto"` for "gda".
        `unlabelled="auto"`, or a weight, learns from rows without a label; a table of such rows may
        stand there too, and is learned from as "auto" says.

    Returns
    -------
    Trained
        The fitted `estimator`; `judged`, how good it is on rows that it has not seen; `notes`,
        `dropped`, `filled`, `choice`; and `save(path)`.

    See Also
    --------
    compare : Compare models on a table, without keeping one.
    load : Read a model from its file.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> place = Path(tempfile.mkdtemp()) / "flowers.csv"
    >>> rows = "1.5,red,rose\n1.7,,rose\n,white,daisy\n0.3,white,daisy\n"
    >>> _ = place.write_text("size,colour,kind\n" + rows)
    >>> found = train(place, target="kind", model="logistic", penalty=1.0)
    >>> found.estimator.predict([[0.4, "white"]]).tolist()
    ['daisy']
    >>> {name: round(mean, 3) for name, mean in found.filled.items()}
    {'size': 1.167}
    >>> found.notes
    ('1 blank cell in size was filled with the mean of its column; size=blank says where',)
    >>> found.save(place.with_suffix(".suffice"))
    """
    given = {name: value for name, value in settings.items() if value is not None}
    return train_rows(
        data, y, target, model, given, Hooks(on_note, progress), drop=drop,
        reading=TableReading(delimiter, header, decimal, dict(columns or {}), encoding,
                             None if sheet is None else str(sheet), bins_of(bins)),
        seed=random_state, checkpoint=checkpoint, time_limit=time_limit,
    )  # fmt: skip


def train_rows(
    data: object,
    y: object,
    target: str | None,
    name: str,
    settings: dict[str, Any],
    hooks: Hooks,
    *,
    drop: Sequence[str] = (),
    reading: TableReading | None = None,
    seed: int = 0,
    checkpoint: str | Path | None = None,
    time_limit: float | None = None,
) -> Trained:
    """Train a model, and speak through `hooks`: what `train` and `suffice fit` have in common."""
    name = usual_name(name)
    check_named(name, settings)
    reading = reading or TableReading()
    asked = settings.get("unlabelled")
    how, more = _how_unlabelled(asked)
    if "unlabelled" in settings:
        settings = {**settings, "unlabelled": IGNORE if how == IGNORE else checked_unlabelled(how)}
    hooks.learns_unlabelled = how != IGNORE
    hooks.families = settings.get("families", AUTO) if name == "naive-bayes" else None
    rows = _rows(data, y, target, name, hooks, drop, reading, seed)
    if how != IGNORE or rows.without is not None:  # most tables have none
        from suffice.training.unlabelled.rows_without_label import with_rows_without_label

        rows = with_rows_without_label(rows, more, reading, how)
    if settings.get("priors"):
        settings = {**settings, "priors": _of_labels(settings["priors"], rows.labels)}
    choice, judged = None, None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SimilarLabels)  # they have been told
        learned: Learned | None = None
        if name in CHOICES:
            if name == AUTO and checkpoint is not None:
                hooks.note(NO_POOL.format("a checkpoint has no rows"))
            single = name == BEST or checkpoint is not None
            learner, learned, choice, judged, rows = choose(
                rows, seed, hooks, time_limit, single=single
            )
        else:
            if name == "naive-bayes" and rows.text_columns:
                families = families_of(rows.text_columns, rows.names, settings.get("families"))
                settings = {**settings, "families": families}
            learner = named_model(name, settings)
        if _has_covariances(name, settings.get("covariance")):
            check_width(rows.table, name, hooks)
        filled = _filled(learner, rows, hooks)
        begun, met = time.monotonic(), RowsMet()
        if learned is None:
            from suffice.training.fit_rows import fit_rows

            learned, met = fit_rows(learner, rows, filled, hooks, checkpoint, seed)
        if learned.unlabelled is not None and how != IGNORE:
            hooks.note(f"{learned.unlabelled}")
        if judged is None:
            from suffice.training.fit_rows import judge

            judged = judge(
                learned,
                rows,
                met,
                hooks,
                seed=seed,
                seconds=time.monotonic() - begun,
                limit=time_limit,
            )
    decimals = digits_shown(rows.table, shown := shown_by(rows.table))
    rates, draws = _rates(learned, rows), rows.text_columns and learned.offers("sample")
    dropped = tuple(one.name for one in rows.dropped)
    notes = TableNotes(rows.target, filled, dropped, spellings=rows.spellings).knowing(
        rates=rates,
        shown=None if rates is None and not draws else shown,
        bins=ColumnBins.cut(rows.table) if met.bins is None else met.bins,
    )
    # The model itself takes the same rows, as one that is loaded from the file does.
    if rows.bins is not None:
        notes = replace(notes, more={**notes.more, LABEL_BINS: rows.bins.to_dict()})
    kept = replace(notes, more={**notes.more, DECIMALS: decimals})
    saved = Saved(learned.with_notes(kept), notes, decimals)
    return Trained(
        saved, rows.columns_described, rows.size, rows.table.width,
        rows.dropped, choice, judged, rows.unlabelled + met.without, tuple(hooks.notes),
    )  # fmt: skip


def _how_unlabelled(asked: object) -> tuple[float | str, Any]:
    """Return how rows without a label are learned from, and where there are more of them."""
    if asked is None:
        return IGNORE, None
    from suffice.training.unlabelled.rows_without_label import parted

    return parted(asked)


def _rows(
    data: object,
    y: object,
    target: str | None,
    name: str,
    hooks: Hooks,
    drop: Sequence[str],
    reading: TableReading,
    seed: int,
) -> TrainingRows:
    """Return labelled rows, wherever they are."""
    check_declared(reading.columns, target)
    drop = tuple(dict.fromkeys((*drop, *reading.ignored)))
    texts, beside = name == "text", name in READING
    if y is not None:
        if target is not None:
            raise BadLabels(
                "labels are given twice: as y, and by the name of a column",
                hint='leave one out: train(X, y), or train(table, target="y")',
            )
        from suffice.training.rows_here import rows_beside_labels

        return rows_beside_labels(data, y, drop, hooks, reading, texts=texts, beside=beside)
    if target is None:
        raise BadLabels(
            "no labels are given, and no target is named",
            hint='name the column of labels: train("data.csv", target="y")',
        )
    if _is_frame(data):
        from suffice.training.rows_here import rows_of_frame

        return rows_of_frame(data, target, drop, hooks, reading, texts=texts, beside=beside)
    once = name in ONE_PASS
    return TrainingRows.read(
        data, target, reading, drop, hooks, once=once, seed=None if once else seed, texts=texts,
        beside=beside,
    )  # fmt: skip


def _is_frame(data: object) -> bool:
    """Whether rows are a frame in memory, and not somewhere else."""
    if isinstance(data, (str, Path, list, tuple)) or not is_from_frame_library(data):
        return False
    import narwhals as nw

    return isinstance(eager_frame(data), nw.DataFrame)


def _has_covariances(name: str, form: object) -> bool:
    """Whether a named model learns covariances, and not variances alone."""
    known = name in ("gda", "qda", "mixture-discriminant")
    return known and (form is None or letters_of(str(form))[2:] != "I")


def _filled(learner: Learner, rows: TrainingRows, hooks: Hooks) -> FilledColumns | None:
    """Return what stands for blank cells, for models that cannot do without."""
    if learner.takes_blanks:
        return None
    from suffice.columns.filled import FilledColumns

    filled = FilledColumns.of(rows.table if rows.given is None else rows.given)
    if filled.note:
        more = "" if rows.whole else "; more may be blank beyond the rows that were checked"
        hooks.note(f"{filled.note}{more}")
    return filled


def _rates(model: Learned, rows: TrainingRows) -> OutlierRates | None:
    """Return how far out the rows lie that a model has learned, if it knows how far rows are."""
    if rows.text_columns or not model.offers("typicality"):
        return None  # of texts nobody knows how far out they are
    if not model.learner.adds_up:
        return None  # no row can be taken out of the model, to be judged by the others
    from suffice.training.table_columns.typical_rows import rates_of

    return rates_of(model, rows.table, rows.labels)


def _of_labels(priors: dict[object, float], labels: Any) -> dict[Hashable, float]:
    """Return priors by label: what was typed is text, labels may be numbers."""
    known = {str(label): label for label in dict.fromkeys(labels.tolist())}
    return {known.get(str(name), name): value for name, value in priors.items()}
