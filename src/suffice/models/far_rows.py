"""Rows too far away for squares, where several groups of columns are normal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.models.gaussian.diagonal_normals import DiagonalNormals
from suffice.families.normal_columns import NormalColumns

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from suffice.families.blocks import Blocks
    from suffice.families.laws import ColumnLaws, Scores
    from suffice.rows import FloatArray


def with_far_rows(
    laws: Sequence[ColumnLaws],
    rows: Blocks,
    found: Sequence[Scores],
    joint: FloatArray,
    log_priors: FloatArray,
) -> FloatArray:
    """Return log joints in which rows beyond the range of squares have their limit.

    `found` are the scores of every group and `joint` what they came to, -inf for classes that
    are excluded. Among the others the squares of all normal columns together decide; what else
    was said counts where they tie.
    """
    # Where variances are shared scores are linear: they count as what else was said, unless
    # even they leave the range.
    normal = [
        g
        for g, law in enumerate(laws)
        if isinstance(law, NormalColumns)
        and not (law.normals.is_shared and np.isfinite(found[g].logs).all())
    ]
    if not normal:
        return joint
    far = np.flatnonzero(np.any([~np.isfinite(found[g].logs).all(axis=1) for g in normal], axis=0))
    if not len(far):
        return joint
    members: list[Any] = [laws[g] for g in normal]
    law = _joined(members)
    parts: list[Any] = [rows.parts[g] for g in normal]
    cells = np.concatenate(
        [
            member.transformed(part[far]).astype(np.float64, copy=False)
            for member, part in zip(members, parts, strict=True)
        ],
        axis=1,
    )
    rest = np.broadcast_to(log_priors, joint[far].shape).copy()
    orders = np.zeros_like(rest)
    for g, scores in enumerate(found):
        if g not in normal:
            rest += scores.logs[far]
        if scores.orders is not None:
            orders += scores.orders[far]
    possible = rest > -np.inf
    least = np.where(possible, orders, np.inf).min(axis=1, keepdims=True)
    possible &= orders <= least
    joint = joint.copy()
    masks, which = np.unique(possible, axis=0, return_inverse=True)
    for number, mask in enumerate(masks):
        here = np.flatnonzero(which.ravel() == number)
        with np.errstate(divide="ignore"):
            limits = law.scores(cells[here], np.log(mask.astype(np.float64)))
        joint[far[here]] = np.where(mask, limits + rest[here], -np.inf)
    return joint


def _joined(laws: Sequence[Any]) -> DiagonalNormals:
    """Return the normal columns of several groups as one law, each class with its variances."""
    normals = [law.normals for law in laws]
    size = normals[0].size
    deviations: list[NDArray[Any]] = [
        np.broadcast_to(law.deviations, (size, law.deviations.shape[1])) for law in normals
    ]
    return DiagonalNormals(
        np.concatenate([law.origin for law in normals]),
        np.concatenate([law.origin_low for law in normals]),
        np.concatenate([law.scale for law in normals]),
        np.concatenate([law.active for law in normals]),
        np.concatenate([law.means for law in normals], axis=1),
        np.concatenate(deviations, axis=1),
    )
