"""Both forms of a kernel by themselves: for tests that they agree, and that the right one works."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

    import pytest


def plain(module: ModuleType) -> Any:
    """Return a module in which every kernel is the form that needs no compiler."""
    return SimpleNamespace(**{name: getattr(at, "plain", at) for name, at in vars(module).items()})


def choices(
    monkeypatch: pytest.MonkeyPatch, kernels: dict[ModuleType, tuple[str, ...]]
) -> Callable[..., list[ModuleType | None]]:
    """Return a function that makes calls and tells whose compiled form each of them came to.

    The compiled forms named do nothing meanwhile; None stands for the plain form, which works.
    """
    called: list[ModuleType] = []
    for module, names in kernels.items():
        for name in names:
            monkeypatch.setattr(module, name, lambda *_, module=module: called.append(module))

    def chosen(*calls: Callable[[], object]) -> list[ModuleType | None]:
        found: list[ModuleType | None] = []
        for call in calls:
            called.clear()
            call()
            found.append(called[0] if called else None)
        return found

    return chosen
