"""Nothing that was acknowledged is lost: killed servers, dropped caches, a killed PostgreSQL."""

from __future__ import annotations

import random
import shutil
import subprocess
import time
from typing import TYPE_CHECKING

import pytest

from tests.searches import repeats
from tests.serve.kills import Clients, check_nothing_lost, logged
from tests.serve.processes import ServerProcess

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

ROUNDS = repeats(3, 1000)
"""Kills of one run; each costs about a second of CPU."""


@pytest.mark.slow
@pytest.mark.process
def test_a_server_that_is_killed_under_load_loses_nothing(
    model_files: Path, tmp_path: Path
) -> None:
    """Without the sync, or with an answer before the commit, this fails."""
    model, state = model_files / "gda.suffice", tmp_path / "state"
    rng = random.Random(7)
    server = ServerProcess(model, "--state", state)
    port = server.port
    clients = Clients(1, "gda")
    clients.servers = [server]
    clients.start()
    try:
        for _ in range(ROUNDS):
            time.sleep(rng.uniform(0.05, 0.6))
            server.kill()
            server = ServerProcess(model, "--state", state, port=port)
            clients.servers = [server]
        time.sleep(0.3)
    finally:
        clients.stop()
    try:
        assert not clients.refused
        assert len(clients.acknowledged) > 10 * ROUNDS
        check_nothing_lost(server, logged(state, "gda"), clients.acknowledged, clients.sent)
    finally:
        server.kill()


SHIM = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
/* Copies a file of SYNCED_FROM to SYNCED_TO whenever it is synced: what a disk would hold. */
static void keep(int fd) {
    char link[64], path[4096], to[8192]; const char *from = getenv("SYNCED_FROM");
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t n = readlink(link, path, sizeof path - 1);
    if (!from || n <= 0) return;
    path[n] = 0;
    if (strncmp(path, from, strlen(from))) return;
    snprintf(to, sizeof to, "%s/%s", getenv("SYNCED_TO"), basename(path));
    int in = open(path, O_RDONLY), out = open(to, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    static char block[1 << 16];
    for (ssize_t got; in >= 0 && out >= 0 && (got = read(in, block, sizeof block)) > 0;)
        if (write(out, block, got) != got) abort();
    close(in); close(out);
}
int fsync(int fd) {
    if (!getenv("SYNCS_ARE_LIES")) keep(fd);
    return 0;
}
int fdatasync(int fd) { return fsync(fd); }
int unlink(const char *path) {  /* SQLite syncs the folder of a journal that it removes */
    char to[8192], copy[4096]; const char *from = getenv("SYNCED_FROM");
    int (*real)(const char *) = dlsym(RTLD_NEXT, "unlink");
    if (from && !strncmp(path, from, strlen(from)) && !getenv("SYNCS_ARE_LIES")) {
        snprintf(copy, sizeof copy, "%s", path);
        snprintf(to, sizeof to, "%s/%s", getenv("SYNCED_TO"), basename(copy));
        real(to);
    }
    return real(path);
}
"""


@pytest.mark.slow
@pytest.mark.process
@pytest.mark.parametrize("honest", [True, False])
def test_what_was_not_synced_is_not_relied_upon(
    honest: bool, model_files: Path, tmp_path: Path, require: Callable[[object, str], None]
) -> None:
    """A crash of the machine leaves what was synced: here, copies made at each sync.

    With syncs that do nothing, which is what `synchronous=OFF` would be, rows are lost: so the
    test can tell.
    """
    require(shutil.which("gcc"), "gcc is not installed")
    source, shim = tmp_path / "shim.c", tmp_path / "shim.so"
    source.write_text(SHIM)
    subprocess.run(["gcc", "-shared", "-fPIC", "-O1", "-o", shim, source, "-ldl"], check=True)
    state, synced = tmp_path / "state", tmp_path / "synced"
    synced.mkdir()
    env = {"LD_PRELOAD": str(shim), "SYNCED_FROM": str(state), "SYNCED_TO": str(synced)}
    first = ServerProcess(model_files / "gda.suffice", "--state", state, env=env)
    try:  # what is there before the first row
        for each in state.iterdir():
            if not honest:
                shutil.copy(each, synced / each.name)
    finally:
        first.kill()
    if not honest:
        env["SYNCS_ARE_LIES"] = "1"
    server = ServerProcess(model_files / "gda.suffice", "--state", state, env=env)
    clients = Clients(2, "gda")
    clients.servers = [server]
    clients.start()
    time.sleep(0.6)
    clients.stop()
    acknowledged = dict(clients.acknowledged)
    server.kill()
    assert len(acknowledged) > 20
    for beside in synced.glob("*-shm"):
        beside.unlink()
    again = ServerProcess("--state", synced) if (synced / "log.sqlite").exists() else None
    if honest:
        assert again is not None
        try:
            check_nothing_lost(again, logged(synced, "gda"), acknowledged, clients.sent)
        finally:
            again.kill()
        return
    if again is not None:
        again.kill()
    held = logged(synced, "gda") if again is not None else {}
    assert not set(acknowledged) <= set(held)
