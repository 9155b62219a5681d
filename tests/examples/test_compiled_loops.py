"""Compiled loops on disk are those of these sources, and every one is a twin of a plain form."""

from __future__ import annotations

import inspect
import os
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages

import numpy as np
import pytest

import suffice
from suffice import kernels
from suffice.kernels import compilation

MODULES = [found.name for found in walk_packages(kernels.__path__, "suffice.kernels.")]
PLAIN = [name for name in MODULES if not name.endswith("_numba")]
TWINS = {
    f"{name}.{kernel}": at
    for name in PLAIN
    for kernel, at in vars(import_module(name)).items()
    if inspect.isfunction(at) and hasattr(at, "plain") and at.__module__ == name
}


def held(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def test_a_cache_of_other_sources_is_emptied_and_one_of_these_is_kept(tmp_path: Path) -> None:
    for name in ("scores_numba.f-1.py311.nbi", "scores_numba.f-1.py311.1.nbc", "else.nbi"):
        (tmp_path / name).write_bytes(b"old")
    compilation._forget_stale.cache_clear()
    compilation._forget_stale(str(tmp_path))
    assert held(tmp_path) == {"else.nbi", compilation.STAMP}

    (tmp_path / "scores_numba.f-1.py311.nbi").write_bytes(b"new")
    compilation._forget_stale.cache_clear()
    compilation._forget_stale(str(tmp_path))
    assert "scores_numba.f-1.py311.nbi" in held(tmp_path)

    (tmp_path / compilation.STAMP).write_text("another version", encoding="ascii")
    compilation._forget_stale.cache_clear()
    compilation._forget_stale(str(tmp_path))
    assert held(tmp_path) == {"else.nbi", compilation.STAMP}


def test_a_folder_that_is_not_there_is_made(tmp_path: Path) -> None:
    compilation._forget_stale.cache_clear()
    compilation._forget_stale(str(tmp_path / "new" / "cache"))
    assert held(tmp_path / "new" / "cache") == {compilation.STAMP}


def test_a_cache_is_emptied_when_a_loop_in_another_folder_has_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, cache = tmp_path / "kernels" / "lanes" / "sums_numba.py", tmp_path / "cache"
    source.parent.mkdir(parents=True)
    monkeypatch.setattr(compilation, "__file__", str(tmp_path / "kernels" / "compilation.py"))
    kept = {}
    for content in ("one", "one", "another"):
        source.write_text(content, encoding="ascii")
        compilation._forget_stale.cache_clear()
        compilation._forget_stale(str(cache))
        kept[content] = "scores_numba.f-1.py311.nbi" in held(cache)
        (cache / "scores_numba.f-1.py311.nbi").write_bytes(b"compiled")
    compilation._forget_stale.cache_clear()
    assert kept == {"one": True, "another": False}


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
