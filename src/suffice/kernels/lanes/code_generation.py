"""What the intrinsics ask of numba and llvmlite while they generate code: types, and no more.

Only some releases of numba have types, and llvmlite has none; so what is asked of them is written
down here, and mypy holds the intrinsics to it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Typed: TypeAlias = tuple["Signature", "Generate"]
    """What an intrinsic returns for types of arguments: a signature, and how code is made."""
    Generate: TypeAlias = Callable[["Context", "Builder", "Signature", Sequence["Value"]], object]
    """What writes the code of one call, and returns the value of its result."""


class Kind(Protocol):
    """A type of numba: of a number, of an array, of a pointer to numbers."""

    @property
    def layout(self) -> str:
        """How the cells of an array lie: C, F or A."""

    @property
    def dtype(self) -> Kind:
        """What an array or a pointer is of."""

    @property
    def count(self) -> int:
        """How many numbers a tuple has."""


class Signature(Protocol):
    """The types that one call is generated for."""

    @property
    def args(self) -> Sequence[Kind]:
        """The types of the arguments."""

    @property
    def return_type(self) -> Kind:
        """The type of the result."""


class Value(Protocol):
    """A value of the code that is generated."""

    @property
    def type(self) -> Callable[[int], Value]:
        """Its type, which makes constants."""


class Vector(Protocol):
    """A type of the processor: several doubles side by side."""

    @property
    def count(self) -> int:
        """How many."""

    def as_pointer(self) -> object:
        """Return the type of an address of them."""


class ArrayFields(Protocol):
    """An array in the code: where its cells begin."""

    @property
    def data(self) -> Value:
        """The address of the first cell."""


class Context(Protocol):
    """What numba knows of the machine."""

    def get_dummy_value(self) -> object:
        """Return the value of a call that returns nothing."""

    def get_value_type(self, kind: Kind) -> object:
        """Return LLVM's type of values of that type."""

    def make_array(self, kind: Kind) -> Callable[[Context, Builder, Value], ArrayFields]:
        """Return what takes arrays of that type apart."""


class Module(Protocol):
    """The unit that code is generated into."""

    def declare_intrinsic(self, name: str, types: Sequence[object], shape: object) -> object:
        """Return one of LLVM's own functions."""


class Builder(Protocol):
    """What writes instructions, one after another."""

    @property
    def module(self) -> Module:
        """Where it writes to."""

    def bitcast(self, value: Value, kind: object) -> Value: ...  # noqa: D102
    def bitreverse(self, value: Value) -> Value: ...  # noqa: D102
    def bswap(self, value: Value) -> Value: ...  # noqa: D102
    def call(self, function: object, given: Sequence[Value]) -> Value: ...  # noqa: D102
    def cttz(self, value: Value, undefined_at_zero: Value) -> Value: ...  # noqa: D102
    def fadd(self, a: Value, b: Value, *, flags: Sequence[str]) -> Value: ...  # noqa: D102
    def fmul(self, a: Value, b: Value, *, flags: Sequence[str]) -> Value: ...  # noqa: D102
    def gep(self, place: Value, steps: Sequence[Value]) -> Value: ...  # noqa: D102
    def icmp_unsigned(self, how: str, a: Value, b: Value) -> Value: ...  # noqa: D102
    def insert_element(self, vector: Value, value: Value, place: Value) -> Value: ...  # noqa: D102
    def inttoptr(self, value: Value, kind: object) -> Value: ...  # noqa: D102
    def load(self, place: Value, *, align: int | None = None) -> Value: ...  # noqa: D102
    def shuffle_vector(self, a: Value, b: Value, mask: Value) -> Value: ...  # noqa: D102
    def store(  # noqa: D102
        self, value: Value, place: Value, *, align: int | None = None
    ) -> object: ...
    def sub(self, a: Value, b: Value) -> Value: ...  # noqa: D102
