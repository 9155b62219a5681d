"""What a page holds of a model: enough to answer, and nothing of the rows it learned from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.columns.design import Design
from suffice.columns.schema import PlainColumns
from suffice.columns.spellings.blank_cells import BLANKS
from suffice.columns.spellings.calendar_words import MONTH_NAMES
from suffice.columns.spellings.written_numbers import CURRENCIES
from suffice.columns.spellings.yes_and_no import PAIRS, TICKS, plain_word
from suffice.errors import BadSetting, SufficeError
from suffice.models.linear.averaged_form import AveragedForm
from suffice.models.linear.form import LinearForm
from suffice.models.naive_bayes.families_by_looks import chosen_by_looks
from suffice.rows.cells import BOOLEAN, CATEGORY, NUMBER
from suffice.storage.describe import describe
from suffice.storage.known_classes import name_of
from suffice.training.decimals import decimals_in
from suffice.web.model_laws import (
    column_laws,
    log_shares,
    normal_law,
    numbers,
    plain_level,
    sampling,
)
from suffice.web.text_counts import packed_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from suffice.columns import Columns
    from suffice.columns.spellings.spelling import Spelling
    from suffice.learning.table_recipe import TableNotes
    from suffice.models.gaussian.model import GenerativeModel
    from suffice.models.naive_bayes.model import NaiveBayesModel
    from suffice.models.text.learner import TextRecord
    from suffice.storage.model_file import StoredModel

FEW_ROWS = 30
"""Rows of a class below which the page says that little is known of it. A choice: a mean of so many
rows is known to a fifth of their deviation."""
WIDE = 3.0
"""Standard deviations on either side of the class means that a slider covers."""


def model_content(stored: StoredModel, notes: TableNotes) -> dict[str, object]:
    """Return a model as plain data for the page, or refuse one that has no such form."""
    model: Any = stored.state["model"]
    _refuse(stored)
    schema = _schema(stored, notes)
    content: dict[str, object] = {
        "format": 1,
        "labels": [str(label) for label in model.labels],
        "target": notes.target,
        "columns": _columns(schema, notes, decimals_in(stored.state)),
        "filled": None,
        "reading": {
            "blanks": sorted(BLANKS),
            "currencies": _currencies(notes),
            "months": _months(notes),
        },
    }
    kind = name_of(model)
    if kind == "GenerativeModel":
        content |= {
            "kind": "normal",
            "logPriors": log_shares(model.log_priors),
            "law": normal_law(model.densities),
            "sampling": sampling(stored),
            "design": _design(stored.state["columns"]),
        }
        _normal_ranges(content, model)
    elif kind == "NaiveBayesModel":
        content |= _product(stored, schema)
        _product_ranges(content, model)
    elif kind in ("LinearForm", "AveragedForm"):
        content |= _linear(stored, notes)
        _linear_ranges(content)
    else:
        content |= _text(model)
    return content | {"about": about(stored, notes, content)}


def _refuse(stored: StoredModel) -> None:
    model: object = stored.state["model"]
    if stored.estimator == "Perceptron":
        raise BadSetting(
            "a perceptron has classes, but no probabilities: a page has nothing to show",
            hint="fit another model, such as --model logistic",
        )
    if name_of(model) == "PoolModel":
        raise BadSetting(
            "a pool of models needs its training rows, which are not put into a page",
            hint="fit one model: suffice fit … --model best, gda, naive-bayes or logistic",
        )
    if getattr(stored.state.get("mixture"), "noise", 0.0) > 0.0:
        raise BadSetting(
            "this mixture has a noise component, which belongs to no class",
            hint="fit it with noise=False",
        )
    if name_of(model) not in (
        "GenerativeModel", "NaiveBayesModel", "LinearForm", "AveragedForm", "TextRecord",
    ):  # fmt: skip
        raise BadSetting(
            f"a {stored.estimator} cannot be shown on a page",
            hint="discriminants, naive Bayes, logistic regression, texts and mixtures have one",
        )


# Columns


def _schema(stored: StoredModel, notes: TableNotes) -> Columns | PlainColumns:
    """Return the columns of the table, before anything was filled or coded."""
    if notes.filled is not None:
        # Categories are known by the design alone, their blanks too.
        return _with_levels(notes.filled.columns, stored.state["columns"])
    columns: Design | Columns | PlainColumns = stored.state["columns"]
    return columns.columns if isinstance(columns, Design) else columns


def _with_levels(columns: Columns, design: object) -> Columns:
    from dataclasses import replace

    known: Any = design.columns.columns if isinstance(design, Design) else ()
    pairs = zip(columns.columns, known, strict=False)
    return replace(
        columns,
        columns=tuple(
            replace(column, levels=coded.levels) if column.kind == CATEGORY else column
            for column, coded in pairs
        ),
    )


def _columns(
    schema: Columns | PlainColumns, notes: TableNotes, decimals: Mapping[str, int]
) -> list[dict[str, object]]:
    found = []
    for j, name in enumerate(schema.names):
        column = None if isinstance(schema, PlainColumns) else schema.columns[j]
        kind = NUMBER if column is None else column.kind
        levels = () if column is None else column.levels
        held: dict[str, object] = {
            "name": name,
            "kind": kind,
            "levels": [plain_level(level) for level in levels if level is not None],
            "spelling": _spelling(notes.spellings.get(name), kind),
        }
        spelling = notes.spellings.get(name)
        if spelling is not None and spelling.part and spelling.of in schema.names:
            clock = spelling.of in notes.spellings and notes.spellings[spelling.of].is_clock
            place = schema.names.index(spelling.of)
            held["made"] = {"of": place, "part": spelling.part, "clock": clock}
        if name in decimals:
            held["digits"] = int(decimals[name])
        found.append(held)
    return found


def _spelling(spelling: Spelling | None, kind: str) -> dict[str, object] | None:
    if spelling is None or spelling.kind != kind:
        return None
    found = spelling.to_dict()
    if spelling.is_ticked:
        return {**found, "ticked": True, "pairs": [[sorted(TICKS), []]]}
    if kind == BOOLEAN:
        ours = plain_word(spelling.yes), plain_word(spelling.no)
        pairs = [(yes, no) for yes, no in PAIRS if ours[0] in yes and ours[1] in no]
        found["pairs"] = [[sorted(yes), sorted(no)] for yes, no in pairs]
        found["pairs"].append([[ours[0]], [ours[1]]])
    return found


def _currencies(notes: TableNotes) -> list[str]:
    written = any(spelling.kind == NUMBER for spelling in notes.spellings.values())
    return sorted(CURRENCIES) if written else []


def _months(notes: TableNotes) -> list[str]:
    return list(MONTH_NAMES) if any(spelling.date for spelling in notes.spellings.values()) else []


def _design(columns: Design | Columns | PlainColumns) -> dict[str, object]:
    design = columns if isinstance(columns, Design) else None
    schema = columns.columns if isinstance(columns, Design) else columns
    if isinstance(schema, PlainColumns):
        coded: list[dict[str, object]] = [{"kind": NUMBER, "levels": []}] * schema.width
    else:
        coded = [
            {"kind": column.kind, "levels": [plain_level(level) for level in column.levels]}
            for column in schema.columns
        ]
    kept = None if design is None or design.kept is None else design.kept.tolist()
    usual = None if design is None or design.usual is None else numbers(design.usual)
    return {"columns": coded, "kept": kept, "usual": usual}


# Models


def _product(stored: StoredModel, schema: Columns | PlainColumns) -> dict[str, object]:
    model: NaiveBayesModel = stored.state["model"]
    if isinstance(schema, PlainColumns):
        kinds = [NUMBER] * schema.width
    else:
        kinds = [column.kind for column in schema.columns]
    asked = (stored.state.get("chosen") or {}).get("asked")
    chosen = chosen_by_looks(asked, stored.state["columns"])
    averaged = model.temperatures is not None and model.shares is not None
    return {
        "kind": "product",
        "logPriors": log_shares(model.log_priors),
        "laws": column_laws(model, kinds, schema.names, chosen),
        "temperature": float(model.temperature),
        "temperatures": numbers(model.temperatures) if averaged else None,
        "shares": numbers(model.shares) if averaged else None,
    }


def _linear(stored: StoredModel, notes: TableNotes) -> dict[str, object]:
    model: LinearForm | AveragedForm = stored.state["model"]
    forms = model.members if isinstance(model, AveragedForm) else (model,)
    shares = model.shares if isinstance(model, AveragedForm) else np.ones(1)
    assert all(isinstance(form, LinearForm) for form in forms)
    filled = notes.filled
    return {
        "kind": "linear",
        "forms": [
            {
                "weights": numbers(form.weights),
                "offsets": numbers(form.offsets),
                "origin": numbers(form.origin),
            }
            for form in forms
        ],
        "shares": numbers(shares),
        "design": _design(stored.state["columns"]),
        "filled": None
        if filled is None
        else {"means": list(filled.means), "blank": list(filled.blank)},
    }


def _text(record: TextRecord) -> dict[str, object]:
    packed = packed_text(record)
    calibrated = record.factors is not None and record.shifts is not None
    return {
        "kind": "text",
        "logPriors": log_shares(record.log_priors),
        "terms": packed.terms,
        "language": packed.language,
        "factors": numbers(record.factors) if calibrated else None,
        "shifts": numbers(record.shifts) if calibrated else None,
        "cut": {"least": packed.least, "kept": list(packed.kept), "every": list(packed.every)},
    }


# Where cells usually are


def _normal_ranges(content: dict[str, Any], model: GenerativeModel) -> None:
    means = np.asarray(model.densities.class_means)
    covariances = np.asarray(model.densities.covariances)
    spread = np.sqrt(np.diagonal(covariances, axis1=1, axis2=2))
    low, high = (means - WIDE * spread).min(axis=0), (means + WIDE * spread).max(axis=0)
    place = 0
    for column, coded in zip(content["columns"], content["design"]["columns"], strict=True):
        width = len(coded["levels"]) if coded["kind"] == CATEGORY else 1
        if column["kind"] == NUMBER:
            _range(column, low[place], high[place])
        place += width


def _product_ranges(content: dict[str, Any], model: NaiveBayesModel) -> None:
    for law, group in zip(model.laws, model.product.columns, strict=True):
        for place, j in enumerate(group):
            column = content["columns"][j]
            if column["kind"] != NUMBER:
                continue
            try:
                picture: Any = law.picture(place, column["name"])
            except (SufficeError, AttributeError):  # it is not drawn: there is no usual place
                continue
            known = getattr(picture, "known", None)
            at = np.asarray(known if known is not None else picture.at, dtype=np.float64)
            if len(at):
                _range(column, at.min(), at.max())


def _linear_ranges(content: dict[str, Any]) -> None:
    """Say about where columns are: a linear form knows where they are counted from."""
    design, form = content["design"], content["forms"][0]
    places = design["kept"] or list(range(len(form["origin"])))
    start = 0
    for column, coded in zip(content["columns"], design["columns"], strict=False):
        width = len(coded["levels"]) if coded["kind"] == CATEGORY else 1
        if column["kind"] == NUMBER and start in places:
            column["usual"] = float(form["origin"][places.index(start)])
        start += width


def _range(column: dict[str, object], low: float, high: float) -> None:
    if np.isfinite(low) and np.isfinite(high) and low < high:
        column["low"], column["high"] = float(low), float(high)


# Words


def about(stored: StoredModel, notes: TableNotes, content: Mapping[str, Any]) -> dict[str, object]:
    """Return what the page says of the model: what it is, what it saw, what it is not sure of."""
    account = describe(stored)
    unsure: list[str] = []
    for one in account.classes:
        if one.weight is not None and one.weight < FEW_ROWS:
            rows = "row" if one.weight == 1.0 else "rows"
            unsure.append(f"{one.label}: it has only {one.weight:g} {rows}")
    if notes.filled is not None and notes.filled.note:
        unsure.append(notes.filled.note)
    if content["kind"] == "linear":
        unsure.append(
            "it models how likely each class is, not what rows look like: it cannot say "
            "“none of these”"
        )
    if content["kind"] == "normal" and content["law"]["type"] not in ("full", "diagonal"):
        unsure.append(
            "this page cannot say “none of these”: suffice outliers and suffice predict "
            "--reject-by typicality can"
        )
    if content["kind"] == "text":
        unsure += _text_doubts(content["cut"])
    return {
        "estimator": stored.estimator,
        "rows": account.rows,
        "classes": [
            {"label": str(c.label), "weight": c.weight, "prior": c.prior} for c in account.classes
        ],
        "assumptions": list(account.assumptions),
        "unsure": unsure,
    }


def _text_doubts(cut: Mapping[str, Any]) -> list[str]:
    found = ["words it has never seen are ignored"]
    if cut["least"] > 1:
        told = zip(cut["kept"], cut["every"], ("terms", "runs of bytes"), strict=True)
        both = [f"{kept:,} of {every:,} {what}" for kept, every, what in told if every]
        found.append(
            f"this page holds {' and '.join(both)}: those seen {cut['least']} times or more. The "
            "model file has all of them, and may answer differently"
        )
    return found
