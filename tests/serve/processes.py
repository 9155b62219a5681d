"""Servers as processes of their own: started, asked over loopback, killed, and stopped."""

from __future__ import annotations

import http.client
import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import suffice

if TYPE_CHECKING:
    from collections.abc import Mapping

SOURCE = Path(suffice.__file__).parents[1]
PATIENCE = 60.0
"""Seconds in which a server has to answer: machines of tests have much to do."""


class ServerProcess:
    """`suffice serve` on a free port; whoever starts it stops it."""

    def __init__(
        self, *arguments: object, env: Mapping[str, str] | None = None, port: int = 0
    ) -> None:
        command = [sys.executable, "-m", "suffice.cli", "serve", *map(str, arguments),
                   "--port", str(port)]  # fmt: skip
        given = {**os.environ, "PYTHONPATH": str(SOURCE), "OPENBLAS_NUM_THREADS": "1"}
        self.process = subprocess.Popen(
            command, stderr=subprocess.PIPE, env={**given, **(env or {})}, text=True
        )
        assert self.process.stderr is not None
        self.said = ""
        for line in self.process.stderr:
            self.said += line
            found = re.search(r"at http://[^ ]*:(\d+);", line)
            if found:
                self.port = int(found[1])
                return
        self.process.wait()
        self.process.stderr.close()
        raise AssertionError(f"the server did not start: {self.said}")

    def connection(self) -> http.client.HTTPConnection:
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)

    def ask(self, method: str, path: str, content: Any = None, **headers: str) -> tuple[int, Any]:
        connection = self.connection()
        try:
            body = None if content is None else json.dumps(content)
            connection.request(method, path, body, {"Content-Type": "application/json", **headers})
            answer = connection.getresponse()
            data = answer.read()
            is_json = "json" in answer.getheader("content-type", "")
            return answer.status, json.loads(data) if is_json else data
        finally:
            connection.close()

    def kill(self) -> None:
        self.process.kill()
        if self.process.stderr is not None and not self.process.stderr.closed:
            self._ended()

    def stop(self) -> int:
        self.process.send_signal(signal.SIGTERM)
        return self._ended()

    def _ended(self) -> int:
        assert self.process.stderr is not None
        self.said += self.process.stderr.read()
        code = self.process.wait(PATIENCE)
        self.process.stderr.close()
        return code
