"""A browser for the tests of pages: Debian's Chromium, driven by Playwright."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ARGUMENTS = (
    "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
)  # fmt: skip


@pytest.fixture(scope="session")
def browser(require: Callable[[object, str], None]) -> Iterator[Any]:
    """Yield a browser; policies of pages are never bypassed."""
    program = shutil.which("chromium") or shutil.which("chromium-browser")
    require(program, "Chromium is not installed")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        require(None, "Playwright is not installed")
        raise
    with sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=program, args=list(ARGUMENTS))
        yield found
        found.close()


@pytest.fixture
def opened(browser: Any) -> Iterator[Callable[..., Any]]:
    """Return `opened(place, …)`: a page whose errors and requests end the test."""
    contexts = []
    problems: list[str] = []

    def page(place: Any, *, state: str = "", **settings: Any) -> Any:
        context = browser.new_context(**{"viewport": {"width": 1280, "height": 900}, **settings})
        contexts.append(context)
        found = context.new_page()
        found.on("pageerror", lambda error: problems.append(f"error: {error}"))
        found.on(
            "console", lambda said: problems.append(said.text) if said.type == "error" else None
        )
        found.on("request", lambda request: _inside(request.url, place, problems))
        found.goto(place.as_uri() + state)
        return found

    yield page
    for context in contexts:
        context.close()
    assert problems == []


def _inside(address: str, place: Any, problems: list[str]) -> None:
    if not address.startswith((place.as_uri(), "data:", "blob:")):
        problems.append(f"request: {address}")
