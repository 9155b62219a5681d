"""scikit-learn's own tests, run on this library's estimators.

The tests are not copied: they are read from the installed package, and executed with adapters in
place of scikit-learn's classes. An adapter translates names and settings and nothing else. What has
no translation raises `NoSuchSetting`, with the reason, and the test is expected to fail for it; a
test that fails for any other reason has to be listed as a difference.

One difference holds everywhere, and is made here: refusals and warnings are in this library's own
words. A test that asks for an error still needs an error of that class.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import re
import sys
from types import ModuleType, SimpleNamespace
from typing import TYPE_CHECKING, Any
from unittest import mock

import pytest
import sklearn

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

VERSION = "1.9.1"
"""The release whose tests are known one by one; others have other tests."""


class NoSuchSetting(Exception):
    """A setting of scikit-learn's that this library does not have.

    No ValueError: a test that waits for a refusal must not take it for one.
    """


class Adapter:
    """What all adapters are: they count how often one was made, so that no test passes idly."""

    made = 0

    def __new__(cls, *arguments: Any, **settings: Any) -> Any:
        Adapter.made += 1
        return super().__new__(cls)


class Absent(Adapter):
    """A class of scikit-learn's without a counterpart here."""

    def __init__(self, *arguments: Any, **settings: Any) -> None:
        raise NoSuchSetting(type(self).__name__)


def adapted(
    tests: str,
    replaced: Mapping[str, Mapping[str, Any]],
    differences: Mapping[str, tuple[str, ...]],
    data: Mapping[str, Any] | None = None,
) -> dict[str, Callable[..., Any]]:
    """Return the tests of a module of scikit-learn, made to use adapters.

    Parameters
    ----------
    tests : str
        The module of tests, such as "sklearn.tests.test_naive_bayes".
    replaced : mapping
        By module of scikit-learn, its names and what stands in for them.
    differences : mapping
        By reason, the tests that fail for it: the name of a test, or a name with some of its
        parameters, "test_name[svd" being all with svd in them. They must fail, or the list is
        stale.
    data : mapping, optional
        Values of the module that the tests read while they run, and what they are here.

    """
    if sklearn.__version__ != VERSION:
        reason = f"these are the tests of scikit-learn {VERSION}, not of {sklearn.__version__}"
        return {"test_peers": pytest.mark.skip(reason=reason)(_nothing)}
    module = _executed(tests, replaced)
    for name, value in (data or {}).items():
        assert hasattr(module, name), name
        setattr(module, name, value)
    found = {
        name: value
        for name, value in vars(module).items()
        # Arrays of other libraries are not taken, so their tests would all be skipped.
        if name.startswith("test_") and callable(value) and "array_api" not in name
    }
    for test in found.values():
        _with_lists(test)
    known = {entry.split("[")[0] for entries in differences.values() for entry in entries}
    assert known <= set(found), known - set(found)
    return found


def _with_lists(test: Any) -> None:
    """Turn parameters that come from a generator into a list, as pytest wants them."""
    marks = getattr(test, "pytestmark", [])
    for place, mark in enumerate(marks):
        if mark.name == "parametrize" and not hasattr(mark.args[1], "__len__"):
            names, values = mark.args
            marks[place] = pytest.mark.parametrize(names, list(values), **mark.kwargs).mark


def _nothing() -> None:
    """Stand in for tests that are those of another release."""


def _executed(tests: str, replaced: Mapping[str, Mapping[str, Any]]) -> ModuleType:
    """Return a fresh copy of the module, executed while the adapters are in place."""
    spec = importlib.util.find_spec(tests)
    assert spec is not None
    assert spec.loader is not None
    copy = importlib.util.spec_from_file_location(
        f"adapted_{tests.rsplit('.', 1)[-1]}", spec.origin
    )
    assert copy is not None
    assert copy.loader is not None
    module = importlib.util.module_from_spec(copy)
    module.__package__ = tests.rpartition(".")[0]
    with contextlib.ExitStack() as stack:
        for name, values in replaced.items():
            stack.enter_context(mock.patch.multiple(importlib.import_module(name), **values))
        # Adapters pickle by the name of the module that defines them, not of this copy.
        sys.modules[copy.name] = module
        copy.loader.exec_module(module)
    if hasattr(module, "pytest"):
        module.pytest = _in_our_own_words()  # type: ignore[attr-defined]
    return module


def _in_our_own_words() -> Any:
    """Return pytest with `raises` and `warns` that ask for a class, not for a sentence."""

    @contextlib.contextmanager
    def raises(kind: Any, *, match: str | None = None) -> Iterator[Any]:
        with pytest.raises(kind) as caught:
            yield caught
        if match is not None and not re.search(match, str(caught.value)):
            assert "Hint:" in str(caught.value), "another sentence, and not one of ours"

    def warns(kind: Any = Warning, *, match: str | None = None) -> Any:
        return pytest.warns(kind)

    names = {name: getattr(pytest, name) for name in pytest.__all__}
    return SimpleNamespace(**{**names, "raises": raises, "warns": warns})
