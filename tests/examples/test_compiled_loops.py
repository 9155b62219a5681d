"""Compiled loops on disk are those of these sources, and no older ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

from suffice.kernels import compilation

if TYPE_CHECKING:
    from pathlib import Path


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
