"""Who may ask, and how much: tokens, limits, packed bodies, pages of other places."""

from __future__ import annotations

import asyncio
import gzip
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest

from suffice.cli import main
from suffice.errors import BadFile, BadSetting
from suffice.serve.http.limits import ServerLimits
from suffice.serve.http.running import check_binding
from suffice.serve.http.tokens import AccessTokens
from suffice.serve.serving import ServerSettings
from tests.serve.asked import JSON, served
from tests.serve.conftest import ROWS

if TYPE_CHECKING:
    from pathlib import Path

PREDICT = "/v1/models/naive_bayes/predict"
LEARN = "/v1/models/naive_bayes/learn"
READER, LEARNER = "r" * 20, "l" * 20


def test_tokens_for_reading_and_for_learning(
    flower_files: tuple[Path, ...], tmp_path: Path
) -> None:
    file = tmp_path / "tokens"
    file.write_text(f"# who may ask\nread {READER}\nlearn {LEARNER}\n")
    settings = ServerSettings(tokens=AccessTokens.read(file))
    with served(flower_files[0], state=tmp_path / "s", settings=settings) as ask:
        rows = {"rows": ROWS[:1]}
        learned = {**rows, "labels": ["rose"]}
        assert ask("GET", "/health/live").status == 200
        for token, wanted in ((None, (401, 401)), (READER, (200, 403)), (LEARNER, (200, 200)),
                              (READER[:-1], (401, 401)), ("é" * 20, (401, 401))):  # fmt: skip
            more = {} if token is None else {"authorization": f"Bearer {token}"}
            found = [ask.post(PREDICT, rows, **more), ask.post(LEARN, learned, **more)]
            assert tuple(one.status for one in found) == wanted
            if wanted[0] == 401:
                assert found[0].headers["www-authenticate"].startswith("Bearer")
        for path in (
            "/v1/models",
            "/metrics",
            "/openapi.json",
            "/docs",
            "/v1/models/naive_bayes/file",
        ):
            assert ask("GET", path).status == 401
        basic = ask.post(PREDICT, rows, authorization=f"Basic {READER}")
        assert basic.status == 401


@pytest.mark.parametrize("text", ["", "# nothing\n", "short\n", "write " + "x" * 20, "a b c"])
def test_a_file_without_good_tokens_is_refused(text: str, tmp_path: Path) -> None:
    file = tmp_path / "tokens"
    file.write_text(text)
    with pytest.raises(BadFile):
        AccessTokens.read(file)


def test_nobody_elsewhere_is_answered_without_a_token() -> None:
    for host in ("0.0.0.0", "::", "192.168.1.2", "example.org"):
        with pytest.raises(BadSetting, match="other machines"):
            check_binding(host, token=False, no_token=False)
        check_binding(host, token=True, no_token=False)
        check_binding(host, token=False, no_token=True)
    for host in ("127.0.0.1", "127.8.9.1", "::1", "localhost"):
        check_binding(host, token=False, no_token=False)


def test_the_command_refuses_in_words(
    flower_files: tuple[Path, ...], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert main(["serve", str(flower_files[0]), "--host", "0.0.0.0"]) == 1
    assert "--no-token" in capsys.readouterr().err
    assert main(["serve"]) == 2
    assert main(["serve", str(tmp_path / "none.suffice")]) == 1
    assert main(["replay", str(tmp_path), "--until", "noon", "-o", str(tmp_path / "m")]) == 2
    assert main(["replay", str(tmp_path), "--until", "2026-11-16", "-o", str(tmp_path / "m")]) == 1
    assert "holds no state" in capsys.readouterr().err


def test_pages_of_other_places_are_refused(flower_files: tuple[Path, ...]) -> None:
    with served(flower_files[0]) as ask:
        rows = {"rows": ROWS[:1]}
        assert ask.post(PREDICT, rows, host="evil.example").status == 403
        assert ask.post(PREDICT, rows, host="localhost:8000").status == 200
        assert ask.post(PREDICT, rows, host="[::1]:8000").status == 200
        assert ask.post(PREDICT, rows, origin="http://evil.example").status == 403
        same = ask.post(PREDICT, rows, host="localhost:8000", origin="http://localhost:8000")
        assert same.status == 200


def test_bodies_have_a_size(flower_files: tuple[Path, ...]) -> None:
    settings = ServerSettings(limits=ServerLimits(body=10_000, rows=50))
    rows: dict[str, Any] = {"rows": ROWS[:1]}
    with served(flower_files[0], settings=settings) as ask:
        long = b'{"rows": [' + b" " * 20_000 + b"]}"
        assert ask("POST", PREDICT, long, JSON).status == 413
        chunked = ask("POST", PREDICT, long, JSON, chunks=30)
        assert chunked.status == 413
        assert chunked.headers["connection"] == "close"
        declared = ask("POST", PREDICT, b"{}", {**JSON, "content-length": "9" * 15})
        assert declared.status == 413
        packed = {**JSON, "content-encoding": "gzip"}
        assert ask("POST", PREDICT, gzip.compress(b"{" + b" " * 10**7), packed).status == 413
        assert ask("POST", PREDICT, b"no gzip", packed).status == 400
        whole = gzip.compress(b'{"rows": [' + b'{"size":1,"colour":"red","scented":true}]}')
        assert ask("POST", PREDICT, whole, packed).status == 200
        assert ask("POST", PREDICT, whole[:-5], packed).status == 400
        assert ask("POST", PREDICT, whole, {**JSON, "content-encoding": "br"}).status == 415
        many = ask.post(PREDICT, {"rows": [[1, "red", True]] * 51})
        assert many.status == 413
        assert "51 rows" in many.json["detail"]
        csv = b"size,colour,scented\n" + b"1,red,true\n" * 51
        assert ask("POST", PREDICT, csv, {"content-type": "text/csv"}).status == 413
        assert ask.post(PREDICT, rows).status == 200
        assert ask.post("/v1/models/naive_bayes/sample", {"size": 51}).status == 413
        assert ask.server.app.holding.now == 0


def test_too_much_work_is_turned_away_and_slow_requests_end(
    flower_files: tuple[Path, ...],
) -> None:
    settings = ServerSettings(limits=ServerLimits(work=2, seconds=0.2))
    with served(flower_files[0], settings=settings) as ask:
        app = ask.server.app

        async def crowd() -> list[int]:
            slow = [asyncio.ensure_future(app.in_thread(time.sleep, 0.4)) for _ in range(2)]
            await asyncio.sleep(0.01)
            found = [await ask.asking("GET", "/v1/models/naive_bayes")]
            found.append(await ask.asking("GET", "/health/live"))
            done = await asyncio.gather(*slow, return_exceptions=True)
            return [*(one.status for one in found), *(getattr(one, "status", 0) for one in done)]

        assert ask.wait_for(crowd()) == [429, 200, 503, 503]

        async def never() -> Any:
            await asyncio.sleep(5)

        async def half() -> list[Any]:
            sent: list[Any] = []

            async def send(message: Any) -> None:
                sent.append(message)

            scope = {"type": "http", "method": "POST", "path": PREDICT, "query_string": b"",
                     "headers": [(b"content-type", b"application/json")]}  # fmt: skip
            await app(scope, never, send)
            return sent

        assert ask.wait_for(half())[0]["status"] == 408
        time.sleep(0.3)


def test_a_server_is_asked_where_another_loop_runs(flower_files: tuple[Path, ...]) -> None:
    """As after tests of pages, whose browser leaves one in this thread."""

    async def another() -> int:
        with served(flower_files[0]) as ask:
            return ask.post(PREDICT, {"rows": ROWS[:1]}).status

    with ThreadPoolExecutor(1) as thread:  # in which there is none yet
        assert thread.submit(asyncio.run, another()).result() == 200


def test_answers_of_all_addresses_are_documented(
    flower_files: tuple[Path, ...], tmp_path: Path
) -> None:
    with served(*flower_files, state=tmp_path / "s") as ask:
        document = ask("GET", "/openapi.json").json
        documented = set(document["paths"])
        there = {path for path in ask.server.app.routes if "/versions/" not in path and path != "/"}
        assert there == documented
        page = ask("GET", "/docs")
        assert "default-src 'none'" in page.headers["content-security-policy"]
        text = page.body.decode()
        assert "naive_bayes" in text
        for word in ("<script", "src=", "http://www", "https://", "@import", "url("):
            assert word not in text
        for path, methods in document["paths"].items():
            for method, said in methods.items():
                example = (said.get("requestBody", {}).get("content", {})
                           .get("application/json", {}).get("example"))  # fmt: skip
                if method == "post" and example is not None and "/forget" not in path:
                    found = ask.post(path, example)
                    assert found.status == 200, (path, found.body)
