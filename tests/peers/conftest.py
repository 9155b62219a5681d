"""What scikit-learn's own tests ask for, and the differences that are deliberate."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.peers.loading import Adapter, NoSuchSetting


@pytest.fixture
def global_random_seed() -> int:
    """Return the seed that scikit-learn's tests use unless told otherwise."""
    return 42


@pytest.fixture
def global_dtype() -> type:
    """Return the type of cells that scikit-learn's tests use unless told otherwise."""
    return np.float64


@pytest.fixture
def enable_metadata_routing() -> Any:
    """Route metadata, as some tests of scikit-learn's need."""
    from sklearn import config_context

    with config_context(enable_metadata_routing=True):
        yield


def pytest_configure(config: pytest.Config) -> None:
    """Know the marks that scikit-learn's tests carry."""
    config.addinivalue_line("markers", "thread_unsafe: scikit-learn's, for another plugin")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Expect the tests to fail that a module lists under DIFFERENCES, each for its reason."""
    for item in items:
        differences = getattr(getattr(item, "module", None), "DIFFERENCES", None)
        if differences is None:
            continue
        # Their own marks say which warnings are errors.
        item.add_marker(pytest.mark.filterwarnings("default"), append=False)
        for reason, entries in differences.items():
            for entry in entries:
                name, _, parameters = entry.partition("[")
                if item.originalname == name and parameters in item.name[len(name) :]:
                    item.add_marker(pytest.mark.xfail(reason=reason, strict=True))


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> Any:
    """Expect settings that do not exist to be missed; skip what asks for nothing of ours."""
    before = Adapter.made
    try:
        result = yield
    except BaseException as error:
        missing: BaseException | None = error
        while missing is not None and not isinstance(missing, NoSuchSetting):
            missing = missing.__context__
        if missing is None:
            raise
        pytest.xfail(f"no counterpart: {missing}")
    if hasattr(pyfuncitem.module, "DIFFERENCES") and Adapter.made == before:
        pytest.skip("it asks nothing of the estimators")
    return result
