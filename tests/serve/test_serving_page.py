"""The commands of docs/serving.md, run as they stand there, and a server that leaves in order."""

from __future__ import annotations

import itertools
import json
import re
import shutil
import socket
import subprocess
import time
from typing import TYPE_CHECKING, Any

import pytest

from suffice.cli import main
from tests.serve.processes import ServerProcess

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

BLOCK = re.compile(r"(?ms)^```(\w+)\n(.*?)^```$")


def near(found: Any, shown: Any) -> bool:
    """Whether an answer is the one of the page; its probabilities are rounded there."""
    if isinstance(shown, float):
        return bool(found == pytest.approx(shown, abs=0.05))
    if isinstance(shown, dict):
        return found.keys() == shown.keys() and all(near(found[k], shown[k]) for k in shown)
    if isinstance(shown, list):
        return len(found) == len(shown) and all(map(near, found, shown))
    return bool(found == shown)


def refusals_of_sockets(server: ServerProcess) -> dict[str, bytes]:
    """Return how requests begin to be answered that are none, or half, or too large."""
    head = b"POST /v1/models/flowers/predict HTTP/1.1\r\nHost: localhost\r\n"
    chunked = head + b"Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
    given = {
        "no HTTP": b"\x16\x03\x01 hello\r\n\r\n",
        "huge headers": head + b"X: " + b"y" * 200_000 + b"\r\n\r\n",
        "two lengths": head + b"Content-Length: 3\r\nContent-Length: 5\r\n\r\nabc",
        "no length": head + b"Content-Length: many\r\n\r\n",
        "negative": head + b"Content-Length: -5\r\n\r\n",
        "too long": head + b"Content-Type: application/json\r\nContent-Length: 99999999999\r\n\r\n",
        "bad bytes": b"GET /v1/models/\xff\xfe HTTP/1.1\r\nHost: localhost\r\n\r\n",
        "bad address": b"GET http:// HTTP/1.1\r\nHost: localhost\r\n\r\n",
        "both": head + b"Transfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n0\r\n\r\n",
        "two hosts": head + b"Host: other\r\nContent-Length: 2\r\n\r\n{}",
        "packed twice": head + b"Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
        "chunk too long": chunked + b"3\r\n{}\r\n0\r\n\r\n",
        "chunk of no size": chunked + b"-2\r\n{}\r\n0\r\n\r\n",
        "chunk with a long name": chunked + b"2;" + b"x" * 2_000_000,
        "headers behind the body": chunked + b"2\r\n{}\r\n0\r\n" + b"x: y\r\n" * 300_000,
    }
    found = {}
    for name, data in given.items():
        with socket.create_connection(("127.0.0.1", server.port), timeout=10) as one:
            try:
                one.sendall(data)
                found[name] = one.recv(4096)[:12]
            except ConnectionError:
                found[name] = b"closed"
    return found


@pytest.mark.slow
@pytest.mark.process
def test_the_page_says_what_happens(
    root: Path, tmp_path: Path, require: Callable[[object, str], None]
) -> None:
    require(shutil.which("curl"), "curl is not installed")
    blocks = BLOCK.findall((root / "docs" / "serving.md").read_text("utf-8"))
    table = next(text for kind, text in blocks if kind == "csv" and "kind" in text)
    (tmp_path / "flowers.csv").write_text(table)
    model, state = tmp_path / "flowers.suffice", tmp_path / "flowers-state"
    assert main(["fit", str(tmp_path / "flowers.csv"), "--target", "kind", "--model",
                 "naive-bayes", "-o", str(model)]) == 0  # fmt: skip
    server = ServerProcess(model, "--state", state)
    asked = 0
    try:
        for (kind, command), (form, shown) in itertools.pairwise(blocks):
            if kind != "sh" or "curl" not in command:
                continue
            here = command.replace("127.0.0.1:8000", f"127.0.0.1:{server.port}")
            here = here.replace("curl ", "curl -s -m 20 ")
            said = subprocess.run(["bash", "-c", here], capture_output=True, check=True).stdout
            if form == "json":
                assert near(json.loads(said), json.loads(shown)), said
            else:
                assert said.decode() == shown
            asked += 1
        assert asked == 5
        for name, begun in refusals_of_sockets(server).items():
            wanted = (b"HTTP/1.1 4", b"HTTP/1.1 501")
            assert begun.startswith(wanted) or begun in (b"closed", b""), (name, begun)
        # A request that is half there when the server is told to leave is answered.
        with socket.create_connection(("127.0.0.1", server.port), timeout=20) as one:
            body = b'{"id": "last", "rows": [[1.0, "red", true]], "labels": ["rose"]}'
            one.sendall(
                b"POST /v1/models/flowers/learn HTTP/1.1\r\nHost: localhost\r\n"
                b"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(body)
            )
            one.sendall(body[:20])
            time.sleep(0.3)
            server.process.terminate()
            time.sleep(0.3)
            one.sendall(body[20:])
            assert one.recv(4096).startswith(b"HTTP/1.1 200")
        assert server.stop() == 0
        assert "stopped cleanly" in server.said
        assert "Traceback" not in server.said
    finally:
        server.process.kill()
        server.process.wait()
    assert [each.name for each in state.iterdir()] == ["log.sqlite"]
    place = tmp_path / "then.suffice"
    assert main(["replay", str(state), "--until", "2999-01-01", "-o", str(place)]) == 0
    assert main(["replay", str(state), "--until", "1999-01-01", "-o", str(place), "--force"]) == 0
    assert place.read_bytes() == model.read_bytes()
