"""Model files that lie about the model: right in form and checksum, wrong in what they mean."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

import numpy as np

from tests.reference.model_file_mutations import opened, written

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.random import Generator

    Content = dict[str, Any]
    Arrays = dict[str, Any]

PARTS = {"array": "from", "tuple": "items", "Columns": "kinds"}
"""What an object of a kind has; one that was only called so by an earlier lie has not."""
HUGE = [10**18, 2**53 + 1, 2**63 - 1, 2**64 - 1, 10**19, -(10**18)]


OTHERS = [
    -1.0, 2.0, True, None, "auto", "per-class", "diagonal", "held-out", "firth", 0, HUGE[0],
    {"a": 0.5}, {"is": "dict", "pairs": [["a", 2.0], ["b", -1.0]]},
]  # fmt: skip
"""Values of settings, each wrong for some."""


def with_lying_content(data: bytes, rng: Generator) -> bytes:
    """Return a file that says something that cannot be, in the form of something that can."""
    content, arrays = opened(data)
    for _ in range(int(rng.integers(1, 3))):
        lie = LIES[int(rng.integers(len(LIES)))]
        found = lie(content, arrays, rng)
        if isinstance(found, bytes):
            return written(found, arrays)
    return written(content, arrays)


def _nodes(tree: Any, kind: str | None = None) -> Iterator[dict[str, Any]]:
    """Yield every object of a kind in a tree."""
    if isinstance(tree, dict):
        if "is" in tree and kind in (None, tree["is"]) and PARTS.get(kind, "is") in tree:
            yield tree
        for held in tree.values():
            yield from _nodes(held, kind)
    elif isinstance(tree, list):
        for held in tree:
            yield from _nodes(held, kind)


def _one(found: list[Any], rng: Generator) -> Any:
    return found[int(rng.integers(len(found)))]


def _numbers(content: Content, arrays: Arrays, rng: Generator) -> None:
    """Make one array what it cannot be: negative, not symmetric, indefinite, huge, NaN."""
    places = [n for n in _nodes(content["state"], "array") if n["of"].startswith("float")]
    if not places:
        return
    place = _one(places, rng)
    shape, start = place["shape"], place["from"]
    flat = arrays[place["of"]] = arrays[place["of"]].copy()
    if not math.prod(shape) or not 0 <= start <= len(flat) - math.prod(shape):
        return
    view = flat[start : start + math.prod(shape)].reshape(shape)
    with np.errstate(all="ignore"):
        _one(WRONGS, rng)(view, rng)


def _place(view: Any, rng: Generator, value: float) -> None:
    view.reshape(-1)[int(rng.integers(view.size))] = value


def _lopsided(view: Any, _: Generator) -> None:
    """Make a matrix other than its mirror image."""
    if view.ndim >= 2:
        view[..., 0, -1] += np.abs(view).max() + 1.0


def _indefinite(view: Any, _: Generator) -> None:
    """Give a matrix a covariance that its variances do not allow."""
    if view.ndim >= 2 and view.shape[-1] == view.shape[-2]:
        view[..., 0, -1] = view[..., -1, 0] = 1e3 * np.abs(view).max()


def _mirrored(view: Any, _: Generator) -> None:
    if view.ndim >= 2 and view.shape[-1] == view.shape[-2]:
        view[...] = np.swapaxes(view, -1, -2).copy()


WRONGS: list[Callable[[Any, Generator], Any]] = [
    lambda view, _: np.negative(view, out=view),
    lambda view, rng: _place(view, rng, _one([math.nan, math.inf, -math.inf], rng)),
    lambda view, rng: _place(view, rng, -float(np.abs(view).max()) - 1.0),
    lambda view, _: view.fill(0.0),
    lambda view, rng: np.multiply(
        view, 10.0 ** float(_one([-320, -160, -20, 20, 160, 307], rng)), out=view
    ),
    lambda view, rng: np.add(
        view, float(_one([1.0, -1.0, 1e300, -1e300, 1e-300], rng)), out=view
    ),
    lambda view, rng: np.copyto(view, rng.permutation(view.reshape(-1)).reshape(view.shape)),
    lambda view, rng: np.copyto(
        view, rng.normal(size=view.shape) * 10.0 ** float(rng.integers(-200, 200))
    ),
    _lopsided, _indefinite, _mirrored,
]  # fmt: skip
"""What may be wrong with the numbers of an array."""


def _shapes(content: Content, _: Arrays, rng: Generator) -> None:
    """Give an array another shape of as many numbers."""
    places = [n for n in _nodes(content["state"], "array") if len(n["shape"]) > 0]
    if not places:
        return
    place = _one(places, rng)
    size = math.prod(place["shape"])
    place["shape"] = _one([place["shape"][::-1], [size], [1, size], [size, 1], [1, 1, size]], rng)


def _labels(content: Content, _: Arrays, rng: Generator) -> None:
    """Say a class twice, in another order, as another type, or one that is not known."""
    found = [n for n in _nodes(content["state"], "tuple") if len(n["items"]) > 1]
    if not found:
        return
    items = _one(found, rng)["items"]
    at = int(rng.integers(len(items)))
    choice = int(rng.integers(6))
    if choice == 0:
        items[at] = items[at - 1]
    elif choice == 1:
        items.reverse()
    elif choice == 2:
        items[at] = _one([None, True, 1, 1.0, "1", HUGE[0], {"is": "float", "value": "nan"}], rng)
    elif choice == 3:
        items.append("zzz")
    elif choice == 4:
        del items[at]
    else:
        items[at] = str(items[at]) + "\n\x1b[31m" + "x" * 5000


def _columns(content: Content, _: Arrays, rng: Generator) -> None:
    """Take a column away, add one, name it twice, or make it another kind."""
    found = list(_nodes(content["state"], "Columns"))
    if not found:
        return
    columns = _one(found, rng)
    kinds, names = columns["kinds"], columns["names"]
    at = int(rng.integers(len(kinds)))
    choice = int(rng.integers(6))
    if choice == 0:
        kinds[at] = _one(["number", "boolean", "category", "text", ""], rng)
    elif choice == 1:
        kinds.append("number")
        if names is not None:
            names.append("one more")
    elif choice == 2:
        del kinds[at]
        if names is not None:
            del names[at]
    elif choice == 3 and names is not None:
        names[at] = names[at - 1]
    elif choice == 4:
        columns["levels"][str(at)] = _one([["a", "a"], [], [None], [1, "1", True], ["x"] * 2], rng)
    else:
        columns["names"] = None if names is not None else [f"x{j}" for j in range(len(kinds))]


def _settings(content: Content, _: Arrays, rng: Generator) -> None:
    """Give a setting a value of another one."""
    held = content["settings"]
    if held:
        name = _one(sorted(held), rng)
        held[name] = json.loads(json.dumps(_one(OTHERS, rng)))


def _integers(content: Content, _: Arrays, rng: Generator) -> None:
    """Put a huge or negative integer where a count is."""
    found = [
        (node["fields"], name)
        for node in _nodes(content["state"])
        for name, value in node.get("fields", {}).items()
        if type(value) is int
    ]
    found += [(n, "from") for n in _nodes(content["state"], "array")]
    holder, name = _one(found, rng)
    holder[name] = _one([*HUGE, -1, 0, 1, 2, 3], rng)


def _kinds(content: Content, _: Arrays, rng: Generator) -> None:
    """Call an object by the name of another."""
    found = list(_nodes(content["state"]))
    one, other = _one(found, rng), _one(found, rng)
    one["is"] = other["is"]


def _other_estimator(content: Content, _: Arrays, rng: Generator) -> None:
    content["estimator"] = _one(
        ["GaussianDiscriminant", "NaiveBayes", "MultinomialNaiveBayes", "ComplementNaiveBayes",
         "BernoulliNaiveBayes", "LogisticRegression", "Perceptron", "MultivariateNormal",
         "TextClassifier", "GaussianMixture", "MixtureDiscriminant", "LatentClasses", "Pool", "os"],
        rng,
    )  # fmt: skip


def _deep(content: Content, _: Arrays, rng: Generator) -> bytes | None:
    """Nest a value far too deep."""
    depth = int(_one([50, 500, 5_000, 50_000], rng))
    text = json.dumps({**content, "deep": 0}).encode()
    opening, closing = _one([(b"[", b"]"), (b'{"a":', b"}")], rng)
    where = b'"deep": 0' if rng.random() < 0.5 else b'"state": '
    if where == b'"state": ':
        return text.replace(where, where + opening * depth, 1)
    return text.replace(where, b'"deep": ' + opening * depth + b"0" + closing * depth, 1)


def _twice(content: Content, _: Arrays, rng: Generator) -> bytes:
    """Say a key twice."""
    text = json.dumps(content).encode()
    key = _one([b'"state": ', b'"shape": ', b'"labels": ', b'"is": ', b'"format": '], rng)
    return text.replace(key, key + b"1, " + key, 1)


def _digits(content: Content, _: Arrays, rng: Generator) -> bytes:
    """Write a number of very many digits, or one that is none."""
    text = json.dumps(content).encode()
    new = _one([b"9" * 5000, b"1e999", b"-1e999", b"NaN", b"Infinity", b"0" * 50, b"1" * 21], rng)
    return text.replace(b'"from": 0', b'"from": ' + new, 1)


LIES: list[Callable[[Content, Arrays, Generator], bytes | None]] = [
    _numbers, _numbers, _numbers, _numbers, _shapes, _labels, _labels, _columns, _settings,
    _integers, _kinds, _other_estimator, _deep, _twice, _digits,
]  # fmt: skip
