"""Servers that are killed while eight clients teach them, and what has to be there afterwards."""

from __future__ import annotations

import json
import random
import threading
import time
from http.client import HTTPException
from typing import TYPE_CHECKING, Any

import numpy as np

import suffice
from tests.serve.conftest import LABELS, ROWS, flowers

if TYPE_CHECKING:
    from pathlib import Path

    from tests.serve.processes import ServerProcess

CLIENTS = 8
JSON = {"Content-Type": "application/json"}


class Clients:
    """Clients that send rows under ids of their own, and the same again if nobody answers."""

    def __init__(self, seed: int, model: str) -> None:
        self.acknowledged: dict[str, int] = {}
        self.sent: set[str] = set()
        self.servers: list[ServerProcess] = []
        self.refused: list[Any] = []
        self._path = f"/v1/models/{model}/learn"
        self._stop = threading.Event()
        self._seed = seed
        self._threads = [threading.Thread(target=self._run, args=(i,)) for i in range(CLIENTS)]

    def start(self) -> None:
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join()

    def _run(self, client: int) -> None:
        rng = random.Random(self._seed * CLIENTS + client)
        number = 0
        connection = None
        identity = None
        while not self._stop.is_set():
            if identity is None:
                identity, which = f"{self._seed}-{client}-{number}", rng.randrange(len(ROWS))
                number += 1
            self.sent.add(identity)
            try:
                if connection is None:
                    connection = rng.choice(self.servers).connection()
                    connection.timeout = 5
                body = {"id": identity, "rows": [ROWS[which]], "labels": [LABELS[which]]}
                connection.request("POST", self._path, json.dumps(body), JSON)
                answer = connection.getresponse()
                answer.read()
            except (OSError, HTTPException):
                if connection is not None:
                    connection.close()
                connection = None  # it is sent again, under the same id
                time.sleep(0.01)
                continue
            if answer.status == 200:
                self.acknowledged[identity] = which
                identity = None
            elif answer.status == 503:
                time.sleep(0.02)
            else:
                self.refused.append(answer.status)
                identity = None
        if connection is not None:
            connection.close()


def logged(state: str | Path, model: str) -> dict[str, list[Any]]:
    """Return what the log holds, by id, without a server."""
    from suffice.serve.state.opening import open_log

    log = open_log(str(state), reading=True)
    try:
        found: dict[str, list[Any]] = {}
        for entry in log.entries(model):
            assert entry.id not in found
            found[entry.id] = [*zip(entry.rows, entry.labels, strict=True)]
        return found
    finally:
        log.close()


def check_nothing_lost(
    server: ServerProcess, held: dict[str, list[Any]], acknowledged: dict[str, int], sent: set[str]
) -> None:
    """Every acknowledged row is there once, nothing is half there, and the model is their fit."""
    assert set(acknowledged) <= set(held) <= sent
    names = list(ROWS[0])
    rows, labels = [], []
    for identity, entries in held.items():
        ((cells, label),) = entries
        if identity in acknowledged:
            which = acknowledged[identity]
            assert list(cells) == [ROWS[which][name] for name in names]
            assert label == LABELS[which]
        rows.append(dict(zip(names, cells, strict=True)))
        labels.append(label)
    status, found = server.ask("POST", "/v1/models/gda/predict", {"rows": ROWS})
    assert status == 200
    model = suffice.GaussianDiscriminant().fit(flowers([*ROWS, *rows]), np.array(LABELS + labels))
    np.testing.assert_allclose(
        found["probabilities"], model.predict_proba(flowers()), rtol=1e-8, atol=1e-12
    )
    status, told = server.ask("GET", "/v1/models/gda")
    assert told["rows"] == len(ROWS) + len(rows)
