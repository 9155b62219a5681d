"""Compiled loops on disk are those of these sources, and every one is a twin of a plain form."""

from __future__ import annotations

import inspect
import os
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from typing import TYPE_CHECKING

import numpy as np
import pytest

import suffice
from suffice import kernels
from suffice.kernels import compilation, kept_loops

if TYPE_CHECKING:
    from collections.abc import Iterator

MODULES = [found.name for found in walk_packages(kernels.__path__, "suffice.kernels.")]
PLAIN = [name for name in MODULES if not name.endswith("_numba")]
TWINS = {
    f"{name}.{kernel}": at
    for name in PLAIN
    for kernel, at in vars(import_module(name)).items()
    if inspect.isfunction(at) and hasattr(at, "plain") and at.__module__ == name
}


@pytest.fixture
def fresh(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Path]:
    """A machine on which nothing was compiled yet, whose loops are kept in a folder of the test."""

    def forget() -> None:
        for known in (kept_loops.folder, kept_loops.all_are_kept, kept_loops.expected_mark,
                      kept_loops.sources):  # fmt: skip
            known.cache_clear()

    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    monkeypatch.delenv(compilation.COMPILE, raising=False)
    forget()
    yield tmp_path / "suffice"
    forget()


def asked_again() -> bool:
    """Return what a new process would find: whether every loop is on disk."""
    kept_loops.folder.cache_clear()
    kept_loops.all_are_kept.cache_clear()
    return kept_loops.all_are_kept()


needs_numba = pytest.mark.skipif(
    not compilation.numba_is_here(), reason="numba is not installed: nothing is compiled"
)


@needs_numba
def test_nobody_waits_for_the_compiler_unless_it_saves_more_than_it_takes(fresh: Path) -> None:
    enough = int(compilation.PAUSE / compilation.SAVED)
    assert not compilation.worth_compiling(enough - 1)
    assert compilation.worth_compiling(enough)
    assert compilation.worth_compiling(enough // 10, 10 * compilation.SAVED)
    with compilation.part_of(enough):
        assert compilation.worth_compiling(0)
    kept_loops.mark()
    assert compilation.worth_compiling(compilation.WORTH_COMPILING)
    assert not compilation.worth_compiling(compilation.WORTH_COMPILING - 1)


@needs_numba
def test_one_can_say_always_and_never(fresh: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    many = compilation.WORTH_COMPILING
    assert not compilation.worth_compiling(many)
    monkeypatch.setenv(compilation.COMPILE, "always")
    assert compilation.worth_compiling(many)
    assert not compilation.worth_compiling(many - 1)
    monkeypatch.setenv(compilation.COMPILE, "never")
    kept_loops.mark()
    assert not compilation.worth_compiling(10**15)


def test_a_mark_counts_for_these_sources_this_compiler_and_this_processor(
    fresh: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert not asked_again()
    kept_loops.mark()
    assert asked_again()
    for name, other in (("sources", lambda: "others"), ("_processor", lambda: ["another"])):
        with monkeypatch.context() as patch:
            patch.setattr(kept_loops, name, other)
            kept_loops.expected_mark.cache_clear()
            assert not asked_again(), name
        kept_loops.expected_mark.cache_clear()
        assert asked_again()
    (fresh / kept_loops.MARK).write_bytes(b"\xff\xfe")
    assert not asked_again()


def test_sources_have_changed_when_a_loop_in_any_folder_has(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fresh: Path
) -> None:
    source = tmp_path / "kernels" / "lanes" / "sums_numba.py"
    source.parent.mkdir(parents=True)
    monkeypatch.setattr(kept_loops, "__file__", str(tmp_path / "kernels" / "kept_loops.py"))
    found = []
    for content in ("one", "one", "another"):
        source.write_text(content, encoding="ascii")
        kept_loops.sources.cache_clear()
        found.append(kept_loops.sources())
    assert found[0] == found[1] != found[2]


def test_a_process_does_not_change_its_mind(fresh: Path) -> None:
    assert not kept_loops.all_are_kept()
    fresh.mkdir(exist_ok=True)
    (fresh / kept_loops.MARK).write_text(kept_loops.expected_mark(), encoding="ascii")
    assert not kept_loops.all_are_kept()
    assert asked_again()


def _add_up(cells: np.ndarray, sums: np.ndarray) -> None:
    for i in range(cells.size):
        sums[0] += cells[i]


def _sum(count: int = 3) -> float:
    from numba import float64

    loop = compilation.compiled(_add_up, compilation.array(float64, 1), compilation.target(1))
    sums = np.zeros(1)
    loop(np.ones(count), sums)
    return float(sums[0])


def written(place: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in place.iterdir()}


@needs_numba
@pytest.mark.slow
def test_a_loop_is_compiled_once_for_a_folder_that_need_not_be_writable(
    fresh: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from numba.core import caching

    assert _sum() == 3.0
    held = written(fresh)
    assert sorted(name.rpartition(".")[2] for name in held) == ["nbc", "nbi"]
    compiled_again = []
    save = caching.IndexDataCacheFile.save
    monkeypatch.setattr(
        caching.IndexDataCacheFile, "save", lambda *at: compiled_again.append(at) or save(*at)
    )
    assert _sum(4) == 4.0
    assert not compiled_again
    # Who may do everything may write to folders that are not to be written to: say so by the code.
    kept_loops.mark()
    monkeypatch.setattr(kept_loops, "_writable", lambda _: False)
    assert asked_again()
    assert kept_loops.folder() == fresh
    assert _sum(5) == 5.0
    assert not compiled_again


@needs_numba
@pytest.mark.parametrize("fault", ["no folder", "a file", "full", "damaged"])
def test_a_cache_that_fails_costs_time_and_not_the_answer(
    fault: str, fresh: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from numba.core import caching

    if fault == "no folder":
        monkeypatch.setattr(kept_loops, "_writable", lambda _: False)
    elif fault == "a file":
        fresh.write_bytes(b"")
    elif fault == "full":

        def full(*_: object) -> None:
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(caching.IndexDataCacheFile, "save", full)
    else:
        assert _sum() == 3.0
        for path in fresh.iterdir():
            path.write_bytes(path.read_bytes()[:40])
    assert _sum() == 3.0


@needs_numba
def test_loops_that_are_warmed_are_those_that_are_used(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in MODULES:
        import_module(name)
    wanted = [(make, kind) for make, kinds in compilation._makers for kind in kinds()]
    assert len(wanted) == len(set(wanted)) >= 150
    for make, kind in wanted:
        inspect.signature(make).bind(*kind)
        written_in = inspect.getmodule(make)
        assert written_in is not None
        assert written_in.__name__.endswith("_numba")


@needs_numba
def test_warming_compiles_each_loop_and_leaves_a_mark(
    fresh: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made, told = [], []
    makers = [(lambda: made.append(()), lambda: [()]),
              (made.append, lambda: [("<f4",), ("<f8",)])]  # fmt: skip
    monkeypatch.setattr(compilation, "_makers", makers)
    monkeypatch.setattr(compilation, "walk_packages", lambda *_: [])
    assert compilation.warm(lambda *at: told.append(at)) == 3
    assert made == [(), "<f4", "<f8"]
    assert told == [(0, 3), (1, 3), (2, 3), (3, 3)]
    assert asked_again()
    monkeypatch.setattr(kept_loops, "_writable", lambda _: False)
    (fresh / kept_loops.MARK).unlink()
    kept_loops.folder.cache_clear()
    with pytest.raises(PermissionError):
        compilation.warm()


@needs_numba
@pytest.mark.process
@pytest.mark.slow
def test_a_first_fit_compiles_nothing_and_a_forked_worker_says_the_same(tmp_path: Path) -> None:
    program = """
import multiprocessing, sys
import numpy as np
from suffice import GaussianDiscriminant

def fitted(_=None):
    rng = np.random.default_rng(0)
    rows, codes = rng.normal(size=(100_000, 12)), np.arange(100_000) % 3
    return GaussianDiscriminant().fit(rows, codes).means_.tobytes(), "numba" in sys.modules

if __name__ == "__main__":
    here = fitted()
    with multiprocessing.get_context("fork").Pool(1) as pool:
        there = pool.apply(fitted)
    print(here == there, here[1])
"""
    environment = {**os.environ, "PYTHONPATH": str(Path(suffice.__file__).parents[1])}
    environment.pop(compilation.COMPILE, None)
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", program],
        env={**environment, "NUMBA_CACHE_DIR": str(tmp_path / "nothing")},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout.split() == ["True", "False"]
    assert done.stderr == ""


@pytest.mark.process
def test_plain_forms_are_imported_without_a_compiler() -> None:
    program = f"import sys\nimport {', '.join(PLAIN)}\nprint('numba' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", program],
        env={**os.environ, "PYTHONPATH": str(Path(suffice.__file__).parents[1])},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout.split() == ["False"]


@pytest.mark.parametrize("name", TWINS)
def test_a_compiled_form_has_the_parameters_of_the_plain_one(name: str) -> None:
    pytest.importorskip("numba", reason="numba is not installed: nothing is compiled")
    twin = TWINS[name]
    expected = inspect.signature(twin.plain)
    assert inspect.signature(twin) == expected
    for module in twin.modules:
        form = getattr(import_module(module), twin.__name__)
        found = inspect.signature(form)
        assert list(found.parameters) == list(expected.parameters), module
        assert [at.default for at in found.parameters.values()] == [
            at.default for at in expected.parameters.values()
        ]


def test_every_kernel_is_known_to_have_twins() -> None:
    assert len(TWINS) >= 30
    assert {len(twin.modules) for twin in TWINS.values()} == {1, 2}


def test_a_kernel_takes_its_arguments_by_name_too(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    @compilation.twin("json", when=lambda *given: asked.append(given) or given[1] > 1)
    def dumps(first: object, second: int = 0) -> str:
        """Return something else than `json.dumps`."""
        return f"plain {first} {second}"

    assert dumps(1, second=0) == dumps(second=0, first=1) == dumps(1, 0) == "plain 1 0"
    assert asked == [(1, 0)] * 3
    assert dumps.plain([2], 2) == "plain [2] 2"
    assert dumps.__doc__.startswith("Return something")
    monkeypatch.setattr("json.dumps", lambda first, second: ("compiled", first, second))
    assert dumps([2], second=2) == dumps.compiled([2], 2) == ("compiled", [2], 2)


def test_the_arguments_say_which_of_several_compiled_forms_works(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    @compilation.twin(
        "json", "pickle", when=lambda number: number > 0, which=lambda number: number % 2
    )
    def dumps(number: int) -> str:
        return f"plain {number}"

    monkeypatch.setattr("json.dumps", lambda number: f"json {number}")
    monkeypatch.setattr("pickle.dumps", lambda number: f"pickle {number}")
    assert [dumps(number) for number in range(3)] == ["plain 0", "pickle 1", "json 2"]
    assert dumps.plain(2) == "plain 2"
    assert dumps.compiled(0) == "json 0"


def test_examples_of_kernels_are_found_by_doctest() -> None:
    from doctest import DocTestFinder

    module = import_module("suffice.kernels.ngrams.counts")
    found = {test.name.rpartition(".")[2] for test in DocTestFinder().find(module) if test.examples}
    kernels_with_examples = {"merge_counts", "run_sums", "sort_keys", "successor_sums"}
    assert kernels_with_examples <= found


def test_cells_of_another_machine_are_not_worth_compiling() -> None:
    cells = np.zeros(3)
    with compilation.part_of(compilation.WORTH_COMPILING):
        assert compilation.pays(cells)
        assert not compilation.pays(cells.astype(cells.dtype.newbyteorder()))
    assert not compilation.pays(cells)
