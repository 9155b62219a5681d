"""A server of models, put together: files, a state, routes, and a socket."""

from __future__ import annotations

import gc
import hashlib
import sys
import warnings
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from suffice.errors import BadSetting
from suffice.serve.http.application import Application
from suffice.serve.http.limits import ServerLimits
from suffice.serve.http.running import check_binding, is_local, run
from suffice.serve.models import Models
from suffice.serve.routes.documentation import add_documentation
from suffice.serve.routes.inference_v2 import add_v2_routes
from suffice.serve.routes.learning import add_learning_routes
from suffice.serve.routes.mlflow import add_mlflow_routes
from suffice.serve.routes.v1 import add_routes
from suffice.serve.served_model import ServedModel
from suffice.serve.state.entries import LogPosition
from suffice.serve.state.held_models import check_same_file, opened_model
from suffice.serve.state.learning import Learning
from suffice.serve.state.log import StateUnavailable
from suffice.serve.state.opening import open_log, unreadable

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from suffice.serve.http.tokens import AccessTokens
    from suffice.serve.state.log import StateLog

SWITCH = 0.001
"""Seconds after which threads take turns: whoever asks for one row waits for the one that works at
a million no longer than that."""
LONGEST_NAME = 200
"""Characters of a model's name in addresses."""


@dataclass(frozen=True, slots=True)
class ModelFile:
    """The bytes of a model file, the name it is served by, and where they came from."""

    name: str
    data: bytes
    place: str

    @classmethod
    def read(cls, path: Path) -> ModelFile:
        """Read a file; its name without the ending is the model's."""
        from suffice.storage.model_file import read_model

        if not path.is_file():
            read_model(path)  # refuses it in words
        name = path.stem
        if not name or len(name) > LONGEST_NAME or "/" in name or not name.isprintable():
            raise BadSetting(
                f"{path}: {name!r:.60} cannot be a name in an address", hint="rename the file"
            )
        return cls(name, path.read_bytes(), str(path))


@dataclass(frozen=True, slots=True)
class ServerSettings:
    """How a server is reached, and by whom."""

    host: str = "127.0.0.1"
    port: int = 8000
    tokens: AccessTokens | None = None
    no_token: bool = False
    limits: ServerLimits = field(default_factory=ServerLimits)


@dataclass(frozen=True, slots=True, eq=False)
class ModelServer:
    """An application with its models, and the thread that writes the log, if there is one."""

    app: Application
    models: Models
    learning: Learning | None

    @classmethod
    def of(
        cls, files: Sequence[ModelFile], log: StateLog | None, settings: ServerSettings
    ) -> ModelServer:
        """Put a server together; nothing is answered, and nothing written, before it is started."""
        opened = _opened(files, log)
        models = Models([one.model for one in opened], learning=log is not None)
        if not models.names:
            raise BadSetting("there is no model to serve", hint="name a model file")
        hosts = None
        if settings.tokens is None and is_local(settings.host):
            hosts = frozenset(("localhost", "127.0.0.1", "[::1]", settings.host.lower()))
        app = Application(settings.limits, settings.tokens, hosts)
        learning = None
        if log is not None:
            learning = Learning(log, models, app.metrics, most_waiting=settings.limits.learning)
            for one in opened:
                if one.base is not None:
                    learning.add(one.model.name, one.base, one.position, one.generation, one.read)
        add_routes(app, models)
        add_learning_routes(app, models, learning)
        add_v2_routes(app, models)
        add_mlflow_routes(app, models)
        add_documentation(app, models)
        return cls(app, models, learning)


def serve(
    files: Sequence[ModelFile],
    state: str | None,
    settings: ServerSettings,
    *,
    started: Callable[[int, tuple[str, ...]], None],
    note: Callable[[str], object],
) -> None:
    """Serve models until somebody says that it is enough.

    `started` hears the port and the names; `note` of models that will not learn.
    """
    # Each would be a line of the log, and some come with every request.
    warnings.simplefilter("ignore")
    sys.setswitchinterval(SWITCH)
    tokens = settings.tokens
    check_binding(settings.host, token=tokens is not None, no_token=settings.no_token)
    log = None if state is None else open_log(state)
    try:
        server = ModelServer.of(files, log, settings)
    except StateUnavailable as error:
        assert log is not None
        log.close()
        raise unreadable(log, error) from None
    except BaseException:
        if log is not None:
            log.close()
        raise
    models, learning = server.models, server.learning
    for name in models.names:
        why = models.why_not(name)
        if why is not None and log is not None:
            note(why)
    if learning is not None:
        learning.start()
    # Modules and models stay: the garbage collector need not go through them again and again, which
    # takes thirty milliseconds, and more beside other programs. Nobody is answered meanwhile.
    gc.freeze()
    try:
        run(
            server.app,
            settings.host,
            settings.port,
            started=lambda port: started(port, models.names),
        )
    finally:
        if learning is not None:
            learning.stop()


class _Opened(NamedTuple):
    """A model as it is now, and, of one that learns, what the state knows of it."""

    model: ServedModel
    base: ServedModel | None
    position: LogPosition
    generation: int
    read: int


def _opened(files: Sequence[ModelFile], log: StateLog | None) -> list[_Opened]:
    """Return models as they are now."""
    found: list[_Opened] = []
    for file in files:
        model = ServedModel.of_bytes(file.name, file.data, file.place)
        if log is None or model.why_it_cannot_learn() is not None:
            found.append(_Opened(model, None, LogPosition(), 0, 0))
            continue
        digest = hashlib.sha256(file.data).hexdigest()
        held = log.model_state(file.name)
        if held is None:
            log.begin(file.name, file.data, digest)
            held = log.model_state(file.name)
            assert held is not None
        check_same_file(held, digest, file.name, log.place)
        found.append(_of_state(log, file.name))
    if log is not None and not files:
        found = [_of_state(log, name) for name in log.models()]
    return found


def _of_state(log: StateLog, name: str) -> _Opened:
    held = log.model_state(name)
    assert held is not None
    model, read = opened_model(log, name, held)  # which moves the position on
    base = ServedModel.of_bytes(name, held.base, f"{name} in {log.place}")
    return _Opened(model, base, held.position, held.generation, read)


NAME = "tumours"
"""What the model of the demo is called."""


def demo_file() -> ModelFile:
    """Return the model file of the built-in data, as `suffice fit` would write it."""
    from sklearn.datasets import load_breast_cancer

    from suffice.estimators.gaussian_discriminant import GaussianDiscriminant
    from suffice.rows.tables import table_of_array
    from suffice.sources.arrow_frames import frame_of
    from suffice.storage.model_file import model_bytes

    data = load_breast_cancer()
    rows = frame_of(table_of_array(data.data, tuple(map(str, data.feature_names))))
    model = GaussianDiscriminant().fit(rows, data.target_names[data.target])
    return ModelFile(NAME, model_bytes(model.stored()), "the built-in data")
