"""Compiled loops on disk are those of these sources, and no older ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

from suffice.kernels import compilation

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


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
