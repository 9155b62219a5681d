"""What a stored pool holds, in words: its members, and how they are put together."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Self

from suffice.places import counted

if TYPE_CHECKING:
    from collections.abc import Mapping

    from suffice.models.pool.model import PoolModel


@dataclass(frozen=True, slots=True)
class MemberAccount:
    """A member: its share in the sum, exponent in the product, and judged log-loss in nats."""

    name: str
    share: float
    exponent: float
    log_loss: float


@dataclass(frozen=True, slots=True)
class PoolAccount:
    """The members of a pool, how good it is on rows that it has not seen, and rows it keeps.

    product   the part of the product in the answer; the rest is the sum
    texts     columns that no member reads, and how far they are believed beside the members
    readings  by what each of them is known: "words" or "bytes"
    """

    members: tuple[MemberAccount, ...]
    product: float
    log_loss: float
    accuracy: float
    kept: int
    texts: Mapping[str, float]
    readings: Mapping[str, str]

    @classmethod
    def of(cls, model: PoolModel, state: Mapping[str, Any]) -> Self:
        """Describe the pool of a file."""
        beside, names = model.texts, state["columns"].names
        texts, readings = {}, {}
        if beside is not None:
            called = [names[place] for place in beside.places]
            texts = dict(zip(called, beside.factors.tolist(), strict=True))
            readings = dict(zip(called, beside.read_by, strict=True))
        columns = (model.shares, model.all_exponents, model.log_losses)
        judged = zip(model.members, *(each.tolist() for each in columns), strict=True)
        members = tuple(MemberAccount(*one) for one in judged)
        kept = len(state["statistics"].sample.rows)
        return cls(members, model.product, model.log_loss, model.accuracy, kept, texts, readings)

    def to_dict(self) -> dict[str, object]:
        """Return the same as what JSON can hold."""
        return {
            "members": [asdict(member) for member in self.members],
            "product": self.product,
            "log_loss": self.log_loss,
            "accuracy": self.accuracy,
            "kept_rows": self.kept,
            **({"texts": dict(self.texts), "readings": dict(self.readings)} if self.texts else {}),
        }

    def lines(self) -> list[str]:
        """Return the same for people, the largest share first."""
        told = [
            f"  {m.name}: share {m.share:.3f}, exponent {m.exponent:.3f}, log-loss {m.log_loss:.4g}"
            for m in sorted(self.members, key=lambda m: -m.share)
        ]
        parts = f"{1.0 - self.product:.0%} their sum by shares, {self.product:.0%} their product"
        return [
            f"{counted(len(told), 'member', 'members')}, evaluated on rows that each had not seen",
            *told,
            *(
                f"  also the {self.readings[name]} of {name}: weight {belief:.3g}"
                for name, belief in self.texts.items()
            ),
            f"  together: log-loss {self.log_loss:.4g}, {self.accuracy:.1%} right; {parts}",
            "",
            f"It keeps {counted(self.kept, 'row', 'rows')}: anyone with the file can read them.",
        ]
