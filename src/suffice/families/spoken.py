"""Quadratic scores of normal classes, without the directions in which no row ever moves.

The indicators of a category add up to one in every row, so every class has the same floor for a
variance along their sum, and the same mean. It says nothing about classes, until a level that was
never seen has indicators that add up to zero: then every class is 1e5 floors away, squares of 1e10
are subtracted from each other, and what is left of a score is six digits of rounding. In exact
numbers they cancel. So they are left out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from suffice.linear_algebra import lower_factor, lower_inverse

if TYPE_CHECKING:
    from suffice.families.full_normals import FullNormals
    from suffice.rows import FloatArray

GAP = 1e-6
"""Share of the variance that other directions have at least, for silent ones to be told apart."""


def spoken_quadratic(normals: FullNormals) -> tuple[FloatArray, FloatArray]:
    """Return whitenings (k, d, d) and shifts: ‖W(x - origin) - shift‖² but for what classes share.

    Let w span the silent functionals: wᵀz is the same in all rows. A row off that plane is brought
    back along v = D²w, with D² the mean variance of the classes, and with B orthogonal to v the law
    of Bᵀz alone tells classes apart. Its factors come from BᵀL by QR, whose entries are of the size
    of what varies. Whitenings are turned into lower triangles again.

    >>> import pyarrow as pa
    >>> from suffice import GaussianDiscriminant
    >>> rows = pa.table({"colour": ["red", "blue", "red", "red", "blue", "blue"]})
    >>> model = GaussianDiscriminant("per-class").fit(rows, [0, 0, 0, 1, 1, 1])
    >>> normals = model.model_.densities
    >>> [bool(abs(form[0]).max() > 1e4) for form in (normals.quadratic, spoken_quadratic(normals))]
    [True, False]
    """
    if normals.is_shared or not normals.silent:
        return normals.quadratic
    act = np.flatnonzero(normals.active)
    factors, means = normals.factors, normals.means[:, act]
    products = (factors @ factors.transpose(0, 2, 1)).mean(axis=0)
    total = products + means.T @ means / len(means)
    shares, turns = np.linalg.eigh(total)
    many = normals.silent
    if many >= len(act) or shares[many] < GAP:
        return normals.quadratic
    silent = turns[:, :many]
    along = np.diagonal(products)[:, np.newaxis] * silent
    rest = np.linalg.qr(along / np.linalg.norm(along, axis=0), mode="complete")[0][:, many:]
    inverses = lower_inverse(lower_factor(rest.T @ factors))
    whitenings = np.zeros_like(factors)
    whitenings[:, many:] = [_lower(inverse @ rest.T) for inverse in inverses]
    d = len(normals.origin)
    matrices, shifts = np.zeros((len(factors), d, d)), np.zeros((len(factors), d))
    matrices[:, act[:, np.newaxis], act] = whitenings / normals.scale[act]
    centres = normals.origin_low[act] / normals.scale[act] + means
    shifts[:, act] = np.einsum("cij,cj->ci", whitenings, centres)
    return matrices, shifts


def _lower(whitening: FloatArray) -> FloatArray:
    """Return QᵀW with zeros right of the last diagonal that fits: lengths stay as they are."""
    upper = np.linalg.qr(whitening[:, ::-1], mode="r")
    found: FloatArray = np.ascontiguousarray(upper[::-1, ::-1])
    return np.tril(found, found.shape[1] - found.shape[0])
