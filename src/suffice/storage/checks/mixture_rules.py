"""What holds inside mixtures and their streams, besides the form of their fields."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.storage.checks.rules import ROUNDING, is_sum_of_squares
from suffice.storage.known_classes import name_of

if TYPE_CHECKING:
    from suffice.models.gaussian.model import GenerativeModel
    from suffice.models.mixture.laws import MixtureLaws
    from suffice.models.mixture.record import ClassMixtures, MixtureRecord
    from suffice.models.mixture.stepwise import MixtureStream

    Sizes = dict[str, int]


def _is_form(form: str) -> bool:
    from suffice.models.gaussian.forms import LETTERS  # other files have none
    from suffice.models.mixture.factored.factor_forms import factors_of

    return form in LETTERS or factors_of(form) is not None


def _mixture(value: MixtureRecord, sizes: Sizes) -> str:  # noqa: ARG001
    """Forms are among the fourteen, and noise is a share."""
    if not all(map(_is_form, {value.form, *value.forms})):
        return "has a form that is not known"
    # All rows may be noise: what is spread evenly is told best by that.
    return "" if value.noise <= 1.0 else f"has noise in {value.noise:g} of all rows"


def _class_mixtures(value: ClassMixtures, sizes: Sizes) -> str:  # noqa: ARG001
    return "" if all(map(_is_form, value.forms)) else "has a form that is not known"


def _mixture_laws(value: MixtureLaws, sizes: Sizes) -> str:
    """Every component belongs to one class, and every class has some."""
    mixing = value.mixing
    if value.components.size != sizes["c"]:
        return f"has shares of {sizes['c']}, not of {value.components.size} components"
    if (np.count_nonzero(mixing, axis=0) != 1).any():
        return "has a component that is not of one class"
    off = np.abs(mixing.sum(axis=1) - 1.0).max(initial=0.0)
    return "" if off < 1e-6 else "has shares that do not add up to 1"


def _mixture_stream(value: Any, sizes: Sizes) -> str:  # noqa: ARG001
    """Moments are those of squares, all there or none, and weigh one."""
    parts = [value.held, value.means, value.total, value.trifle]
    known = [one is not None for one in parts]
    spread = [one for one in (value.scatters, value.squares) if one is not None]
    if len({*known, value.seen > 0.0, value.worth > 0.0, len(spread) == 1}) > 1:
        return "has some of its moments, and not others"
    if len(spread) > 1 or value.noise >= 1.0:
        return "has moments twice, or noise alone"
    if not known[0]:
        return ""
    if abs(float(value.held.sum()) + value.noise - 1.0) > ROUNDING:
        return "has shares that do not add up to 1"
    squares = [value.total, value.trifle]
    squares += [] if value.scatters is None else list(value.scatters)
    # Sums of differences: what rounding leaves of a direction without variance may be below zero.
    sound = all(is_sum_of_squares(one, np.abs(np.diagonal(one)) * ROUNDING) for one in squares)
    return "" if sound else "has no squares among its moments"


def _stream_frame(value: Any, sizes: Sizes) -> str:  # noqa: ARG001
    """Columns that vary have covariances with each other."""
    if len(value.total) != int(value.active.sum()) or not len(value.total):
        return "has covariances of other columns than those that vary"
    return "" if is_sum_of_squares(value.total) else "has no squares among its moments"


def _class_stream(value: Any, sizes: Sizes) -> str:  # noqa: ARG001
    """What has begun has a mixture, and what waits has none."""
    begun = value.rows.is_begun
    if begun != (value.model is not None) or begun != (value.record is not None):
        return "has running sums and no mixture, or a mixture and no sums"
    if not begun:
        return ""
    if (value.rows.noise, value.record.noise) != (0.0, 0.0):
        return "has noise, which classes do not have"
    return stream_flaw(value.rows, value.model) or ""


def _class_streams(value: Any, sizes: Sizes) -> str:  # noqa: ARG001
    """Before there is a frame, all rows wait; the mixtures of all classes are in it."""
    begun = [one for one in value.classes if one.is_begun]
    if value.frame is None:
        return "has mixtures and no frame" if begun else ""
    for one in begun:
        law = one.model.densities
        same = all(
            np.array_equal(getattr(law, name), getattr(value.frame, name))
            for name in ("origin", "origin_low", "active")
        )
        if not same:
            return "has a mixture of other columns than its frame"
    return ""


def stream_flaw(stream: MixtureStream, model: GenerativeModel) -> str:
    """Return why a stream of rows is not the one of its mixture; nothing where it is."""
    law = model.densities
    active = int(law.active.sum())
    if name_of(law) not in ("FullNormals", "DiagonalNormals"):
        return "has a mixture of other laws"
    if stream.waiting.shape[1] != len(law.origin):
        return f"has {stream.waiting.shape[1]} columns, not {len(law.origin)}"
    if stream.means is None:
        return ""
    if stream.means.shape != (len(model.labels), active):
        return "has other components than its mixture"
    if (name_of(law) == "FullNormals") == (stream.scatters is None):
        return "has moments of a different form than its mixture"
    return ""


MIXTURE_RULES = {
    "ClassMixtures": _class_mixtures,
    "ClassStream": _class_stream,
    "ClassStreams": _class_streams,
    "MixtureLaws": _mixture_laws,
    "MixtureRecord": _mixture,
    "MixtureStream": _mixture_stream,
    "StreamFrame": _stream_frame,
}
"""The rule of each class."""
