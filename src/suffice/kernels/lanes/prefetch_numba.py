"""Rows asked for before they are needed, so that reading them from memory takes no time of its own.

The processor foresees a plain loop over rows, but not one that turns to other numbers, such as the
sums of the row's class, after each of them. Rows are asked into the second cache: in the first they
would push out those other numbers.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from numba import njit

# Untyped: only some releases of numba have types.
ir: Any = import_module("llvmlite.ir")
types: Any = import_module("numba.types")
cgutils: Any = import_module("numba.core.cgutils")
intrinsic: Any = import_module("numba.extending").intrinsic

AHEAD = 2048
"""Cells that should lie between what is worked on and what is asked for."""

WIDE = 64
"""Cells of a row from which asking pays; the processor has foreseen shorter rows anyway."""

LINE = 8
"""Cells in a line of the cache."""

READ, SECOND_CACHE, OF_DATA = 0, 2, 1


@njit(nogil=True, inline="always")
def expect(rows: Any, row: int) -> None:
    """Ask for a row that will be needed soon; it may be past the end."""
    width = rows.shape[1]
    if width >= WIDE:
        for j in range(0, width, LINE):
            _ask(rows, row, j)


@intrinsic
def _ask(_: Any, rows: Any, row: Any, column: Any) -> Any:
    """Ask for one cell of rows that lie contiguously; of others nothing is asked."""

    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        kind = signature.args[0]
        if kind.layout == "C":
            table = context.make_array(kind)(context, builder, given[0])
            place = cgutils.get_item_pointer(
                context, builder, kind, table, given[1:], wraparound=False
            )
            byte, number = ir.IntType(8), ir.IntType(32)
            address = builder.bitcast(place, byte.as_pointer())
            shape = ir.FunctionType(ir.VoidType(), [address.type, number, number, number])
            call = builder.module.declare_intrinsic("llvm.prefetch", [address.type], shape)
            builder.call(call, [address, number(READ), number(SECOND_CACHE), number(OF_DATA)])
        return context.get_dummy_value()

    return types.void(rows, row, column), generate
