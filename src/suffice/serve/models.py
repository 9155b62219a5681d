"""All models of a server, by name: each is replaced by the next one when something is learned."""

from __future__ import annotations

from typing import TYPE_CHECKING

from suffice.errors import BadSetting

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from suffice.serve.served_model import ServedModel

NO_STATE = "the server was started without --state: what it learned would be lost with it"
"""Why nothing is learned where there is no log."""


class Models:
    """Models by name, in the order in which they were given."""

    def __init__(self, models: Iterable[ServedModel], *, learning: bool) -> None:
        self._held: dict[str, ServedModel] = {}
        for model in models:
            if model.name in self._held:
                raise BadSetting(
                    f"two models are named {model.name!r}",
                    hint="rename one: models are addressed by their file names",
                )
            self._held[model.name] = model
        self.names = tuple(self._held)
        self._learning = learning

    def __getitem__(self, name: str) -> ServedModel:
        return self._held[name]

    def __iter__(self) -> Iterator[ServedModel]:
        return iter(list(self._held.values()))

    def replace(self, model: ServedModel) -> None:
        """Let a model take the place of the one of its name, for all requests from now on."""
        self._held[model.name] = model

    def why_not(self, name: str) -> str | None:
        """Return why a model learns nothing here; None if it does."""
        why = self._held[name].why_it_cannot_learn()
        return why or (None if self._learning else NO_STATE)

    def weights(self) -> Iterator[tuple[str, float]]:
        """Yield each name, and how many rows its model has learned, where that is known."""
        for name, model in self._held.items():
            if model.adds_up and model.why_it_cannot_learn() is None:
                yield name, float(model.learned.statistics.weight)
