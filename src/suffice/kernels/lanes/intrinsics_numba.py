"""What numba has no words for: several sums side by side, and asking for memory in time.

A loop that jumps about in a large table waits for memory at every step: the processor looks only
some dozens of steps ahead. Asked some hundred steps ahead, the same loop takes half as long. And
where each jump finds several numbers side by side, one vector of the processor adds all of them.

The processor foresees a plain loop over rows, but not one that turns to other numbers, such as the
sums of the row's class, after each of them. Such rows are asked into the second cache: in the first
they would push out those other numbers.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from numba import njit

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from suffice.kernels.lanes.code_generation import (
        Builder,
        Context,
        Kind,
        Signature,
        Typed,
        Value,
        Vector,
    )

# Untyped: only some releases of numba have types.
ir = import_module("llvmlite.ir")
types = import_module("numba.types")
cgutils = import_module("numba.core.cgutils")
intrinsic = import_module("numba.extending").intrinsic

READ, OF_DATA = 0, 1
"""How `llvm.prefetch` is told that memory will be read, and that it holds data."""

ALL_CACHES, SECOND_CACHE = 3, 2
"""How it is told where the memory is to be kept: locality as LLVM counts it."""

MAY_FUSE = ("contract",)
"""A product and a sum may be rounded together."""

CELLS_AHEAD = 2048
"""Cells of rows between what is worked on and what is asked for: 16 kilobytes of doubles, so that
what was asked for is there, and does not yet push out what is worked on."""

WIDE = 64
"""Cells of a row from which asking pays; the processor has foreseen shorter rows anyway."""

LINE = 8
"""Doubles in a line of the cache; of float32 it holds twice as many, which does no harm."""


@intrinsic
def prefetch(_: object, table: Kind, place: Kind) -> Typed:
    """Let the cache fetch `table[place]`, of a contiguous table; nothing waits, nothing changes."""

    def generate(
        context: Context, builder: Builder, signature: Signature, given: Sequence[Value]
    ) -> object:
        _ask_for(builder, _address(context, builder, signature.args[0], *given), ALL_CACHES)
        return context.get_dummy_value()

    return types.void(table, place), generate


@njit(nogil=True, inline="always")
def prefetch_row(rows: NDArray[np.floating], row: int) -> None:
    """Ask for a row that will be needed soon; it may be past the end."""
    width = rows.shape[1]
    if width >= WIDE:
        for j in range(0, width, LINE):
            _prefetch_cell(rows, row, j)


@intrinsic
def _prefetch_cell(_: object, rows: Kind, row: Kind, column: Kind) -> Typed:
    """Ask for one cell of rows that lie contiguously; of others nothing is asked."""

    def generate(
        context: Context, builder: Builder, signature: Signature, given: Sequence[Value]
    ) -> object:
        kind = signature.args[0]
        if kind.layout == "C":
            table = context.make_array(kind)(context, builder, given[0])
            place = cgutils.get_item_pointer(
                context, builder, kind, table, given[1:], wraparound=False
            )
            _ask_for(builder, place, SECOND_CACHE)
        return context.get_dummy_value()

    return types.void(rows, row, column), generate


@intrinsic
def lanes_of(_: object, zeros: Kind) -> Typed:
    """Return as many sums as there are `zeros`, a tuple of floats; each call starts anew."""

    def generate(_: object, builder: Builder, signature: Signature, __: object) -> object:
        vector = _vector(signature.return_type)
        place = cgutils.alloca_once(builder, vector)  # in the end a register
        builder.store(ir.Constant(vector, [0.0] * vector.count), place)
        return builder.bitcast(place, ir.ArrayType(ir.DoubleType(), vector.count).as_pointer())

    return types.CPointer(zeros)(zeros), generate


@intrinsic
def add_scaled(
    _: object,
    lanes: Kind,
    table: Kind,
    place: Kind,
    factor: Kind,  # noqa: ARG001
) -> Typed:
    """Add factor · `table[place]`, `table[place + 1]`, … to the lanes, in one step."""

    def generate(
        context: Context, builder: Builder, signature: Signature, given: Sequence[Value]
    ) -> object:
        vector = _vector(signature.args[0])
        sums = builder.bitcast(given[0], vector.as_pointer())
        start = _address(context, builder, signature.args[1], *given[1:3])
        terms = builder.load(builder.bitcast(start, vector.as_pointer()), align=8)
        product = builder.fmul(_all(builder, given[3], vector), terms, flags=MAY_FUSE)
        builder.store(builder.fadd(builder.load(sums), product, flags=MAY_FUSE), sums)
        return context.get_dummy_value()

    return types.void(lanes, table, place, types.float64), generate


@intrinsic
def scatter_scaled(
    _: object,
    table: Kind,
    place: Kind,
    lanes: Kind,
    factor: Kind,  # noqa: ARG001
) -> Typed:
    """Add factor · the lanes to `table[place]`, `table[place + 1]`, …, in one step."""

    def generate(
        context: Context, builder: Builder, signature: Signature, given: Sequence[Value]
    ) -> object:
        vector = _vector(signature.args[2])
        start = _address(context, builder, signature.args[0], *given[:2])
        start = builder.bitcast(start, vector.as_pointer())
        terms = builder.load(builder.bitcast(given[2], vector.as_pointer()))
        product = builder.fmul(_all(builder, given[3], vector), terms, flags=MAY_FUSE)
        total = builder.fadd(builder.load(start, align=8), product, flags=MAY_FUSE)
        builder.store(total, start, align=8)
        return context.get_dummy_value()

    return types.void(table, place, lanes, types.float64), generate


@intrinsic
def write(_: object, lanes: Kind, out: Kind) -> Typed:
    """Write the sums into `out`, a contiguous array that has room for them."""

    def generate(
        context: Context, builder: Builder, signature: Signature, given: Sequence[Value]
    ) -> object:
        vector = _vector(signature.args[0])
        sums = builder.load(builder.bitcast(given[0], vector.as_pointer()))
        start = _address(context, builder, signature.args[1], given[1], ir.IntType(64)(0))
        builder.store(sums, builder.bitcast(start, vector.as_pointer()), align=8)
        return context.get_dummy_value()

    return types.void(lanes, out), generate


@intrinsic
def cells_at(_: object, like: Kind, place: Kind) -> Typed:
    """Return the cells at an address, of the type of those of `like`, as a pointer."""

    def generate(
        context: Context, builder: Builder, signature: Signature, given: Sequence[Value]
    ) -> object:
        return builder.inttoptr(given[1], context.get_value_type(signature.return_type))

    return types.CPointer(like.dtype)(like, place), generate


def _ask_for(builder: Builder, place: Value, caches: int) -> None:
    """Generate the call that asks for the memory at an address."""
    number = ir.IntType(32)
    address = builder.bitcast(place, ir.IntType(8).as_pointer())
    shape = ir.FunctionType(ir.VoidType(), [address.type, number, number, number])
    call = builder.module.declare_intrinsic("llvm.prefetch", [address.type], shape)
    builder.call(call, [address, number(READ), number(caches), number(OF_DATA)])


def _vector(lanes: Kind) -> Vector:
    """Return the processor's type of so many doubles."""
    vector: Vector = ir.VectorType(ir.DoubleType(), lanes.dtype.count)
    return vector


def _all(builder: Builder, number: Value, vector: Vector) -> Value:
    """Return a vector of the same number in every lane."""
    nothing = ir.Constant(vector, ir.Undefined)
    first = builder.insert_element(nothing, number, ir.IntType(32)(0))
    all_first = ir.Constant(ir.VectorType(ir.IntType(32), vector.count), [0] * vector.count)
    return builder.shuffle_vector(first, nothing, all_first)


def _address(context: Context, builder: Builder, kind: Kind, table: Value, place: Value) -> Value:
    """Return where an element of a contiguous array is."""
    return builder.gep(context.make_array(kind)(context, builder, table).data, [place])
