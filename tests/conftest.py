"""What every test may ask for."""

from __future__ import annotations

import gc
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, settings

from tests.searches import USUAL, share

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ROOT = Path(__file__).resolve().parents[1]
SHARED = str(ROOT.parent / "shared") + os.sep

# Searches differ from run to run, so that the suite goes on looking; a failure prints the line
# that replays it. In continuous integration they are the same every time: what is checked there is
# the change, and not the luck of the draw.
settings.register_profile(
    "default",
    max_examples=USUAL,
    deadline=None,
    derandomize=os.environ.get("CI") == "true",
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile(
    "evidence",
    settings.get_profile("default"),
    derandomize=False,
    max_examples=2_000,
)
# Enough to find what is plainly wrong, while one waits: `make check`.
settings.register_profile("check", settings.get_profile("default"), max_examples=5)
settings.load_profile(os.environ.get("SUFFICE_PROFILE", "default"))

# What is imported and collected stays until the end: to look through it for garbage again and again
# would take more time than many tests do.
gc.disable()

# Compiled loops are tested wherever an input is large enough for them, whether or not this machine
# has them on disk; tests of the choice itself unset it.
os.environ.setdefault("SUFFICE_COMPILE", "always")

NEEDS = {
    "server": {"postgres_server"},
    "cluster": {"spark", "any_spark", "dask_cluster"},
    "browser": {"browser"},
    "process": {"shell", "environment"},
    "shared": {"shared"},
}
"""What a test needs, by the fixtures that it asks for, itself or through others."""

CHOSEN = (("any_database", "postgres", "server"), ("any_dask", "cluster", "cluster"))
"""Fixtures that choose among others by their parameter, a choice, and what it needs."""

OURS = {Path(sys.executable).name, "python", "python3", "bash", "sh", "suffice"}
"""Programs whose start makes a test one of processes. What libraries start for themselves, such as
`ldconfig` and `fc-list`, does not."""

LONG = 2.0
"""Seconds after which a test is to be marked as slow: a hundred of them are the difference between
a run that one waits for, and one that one does not."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark tests by what they need, so that nobody has to think of it."""
    for item in items:
        for need in _needs(item):
            item.add_marker(need)
    share(items)


def pytest_collection_finish() -> None:
    """Look for garbage from now on, and not among what was collected."""
    gc.freeze()
    gc.enable()


def _needs(item: pytest.Item) -> Iterator[str]:
    asked = set(getattr(item, "fixturenames", ()))
    for mark in item.iter_markers("parametrize"):  # names of values, and of no fixtures
        names = mark.args[0]
        asked -= set(names.replace(",", " ").split() if isinstance(names, str) else names)
    parameters = getattr(getattr(item, "callspec", None), "params", {})
    for need, fixtures in NEEDS.items():
        if asked & fixtures:
            yield need
    for fixture, chosen, need in CHOSEN:
        if parameters.get(fixture) == chosen:
            yield need
    if ROOT / "tests" / "peers" in item.path.parents:
        yield "peers"


class _Running:
    """The test that is run now, and what it may do by its marks."""

    item: pytest.Item | None = None

    @classmethod
    def needs(cls, *marks: str) -> None:
        """Fail the test unless it has one of the marks."""
        item = cls.item
        if item is not None and not any(item.get_closest_marker(mark) for mark in marks):
            cls.item = None  # what the failure itself opens and starts is no concern
            pytest.fail(f"this test is not marked as one that needs {' or '.join(marks)}")


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Know which test is run."""
    _Running.item = item
    try:
        return (yield)
    finally:
        _Running.item = None


def _audit(event: str, arguments: tuple[Any, ...]) -> None:
    """See what a test does that it has to be marked for. The interpreter calls this; see `sys`."""
    if event == "subprocess.Popen":
        program = arguments[0] or arguments[1][0]
        if Path(os.fsdecode(program)).name in OURS:
            _Running.needs("process", "server", "cluster", "browser")
    elif event == "open" and str(arguments[0]).startswith(SHARED):
        _Running.needs("shared")


sys.addaudithook(_audit)


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Name the tests that take long and do not say so."""
    reports = terminalreporter.getreports("passed")
    long = [one for one in reports if one.duration > LONG and "slow" not in one.keywords]
    if long:
        terminalreporter.section(f"over {LONG:g} s and not marked as slow")
    for one in sorted(long, key=lambda report: -report.duration):
        terminalreporter.write_line(f"{one.duration:6.1f} s  {one.when:8} {one.nodeid}")


def _require(condition: object, reason: str) -> None:
    """Skip the test unless `condition` holds; where everything is required, fail instead."""
    if condition:
        return
    if os.environ.get("SUFFICE_REQUIRE_ALL") == "1":
        pytest.fail(f"{reason} (SUFFICE_REQUIRE_ALL=1 turns this skip into a failure)")
    pytest.skip(reason)


@pytest.fixture(scope="session")
def require() -> Callable[[object, str], None]:
    """Return `require(condition, reason)`, for tests that need a part the system may lack."""
    return _require


@pytest.fixture(scope="session")
def root() -> Path:
    """Return the folder of the project."""
    return ROOT


@pytest.fixture(scope="session")
def shared() -> Path:
    """Return the folder of reference data beside the project."""
    folder = ROOT.parent / "shared"
    if not folder.is_dir():  # no package brings it, so that nothing can be required
        pytest.skip(f"no reference data: {folder} is not there")
    return folder


@pytest.fixture(autouse=True)
def _pictures_without_a_screen() -> None:
    """Let no test open a window, without importing matplotlib for those that never draw."""
    if "matplotlib" in sys.modules:
        import matplotlib as mpl

        mpl.use("Agg")
