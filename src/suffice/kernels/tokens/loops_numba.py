"""Tokens in numba: where they begin and end, and the 64-bit number of each.

Each loop writes into arrays that are given, and large enough: nothing is allocated inside. Places
are int64, numbers of terms uint64; `ends[i]` is where document i, or its tokens, end.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import numpy as np
from numba import int64, njit, uint64

from suffice.kernels.lanes.intrinsics_numba import intrinsic, ir, types
from suffice.kernels.tokens.term_hash import FIRST, SECOND, SEED, STEP

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from suffice.kernels.lanes.code_generation import (
        Builder,
        Context,
        Kind,
        Signature,
        Typed,
        Value,
    )

    Bytes = NDArray[np.uint8]
    Places = NDArray[np.int64]
    Keys = NDArray[np.uint64]

SEED_, STEP_, FIRST_, SECOND_ = (np.uint64(number) for number in (SEED, STEP, FIRST, SECOND))
"""Numbers without a sign, as numba needs them: with a sign, products would not be modulo 2⁶⁴."""
EIGHT = np.uint64(8)
"""Bytes of a number, from which those that are kept are counted."""


@intrinsic
def eight_bytes(_: object, table: Kind, place: Kind) -> Typed:
    """Return the eight bytes from `table[place]` on as one number, the first byte the lowest."""

    def generate(
        context: Context, builder: Builder, signature: Signature, given: Sequence[Value]
    ) -> object:
        cells = context.make_array(signature.args[0])(context, builder, given[0]).data
        wide = ir.IntType(64)
        start = builder.bitcast(builder.gep(cells, [given[1]]), wide.as_pointer())
        number = builder.load(start, align=1)
        return number if sys.byteorder == "little" else builder.bswap(number)

    return types.uint64(table, place), generate


@njit(nogil=True, inline="always")
def mixed(number: np.uint64) -> np.uint64:
    """See `term_hash.mixed`."""
    number ^= number >> uint64(33)
    number *= FIRST_
    number ^= number >> uint64(33)
    number *= SECOND_
    return number ^ (number >> uint64(33))


@njit(nogil=True, inline="always")
def kept_bytes(number: np.uint64, many: int) -> np.uint64:
    """Return the lowest `many` bytes of a number, 1 to 8 of them."""
    return number & (uint64(0xFFFFFFFFFFFFFFFF) >> ((EIGHT - uint64(many)) << uint64(3)))


@njit(nogil=True)
def word_hash(buffer: Bytes, start: int, stop: int) -> np.uint64:
    """See `term_hash.word_hash`; eight bytes after the word may be read."""
    left = stop - start
    number = SEED_ + uint64(left) * STEP_
    while left > 8:
        number = (number ^ eight_bytes(buffer, start)) * STEP_
        number ^= number >> uint64(32)
        start += 8
        left -= 8
    if left > 0:
        number = (number ^ kept_bytes(eight_bytes(buffer, start), left)) * STEP_
        number ^= number >> uint64(32)
    return mixed(number)


@intrinsic
def changes(_: object, table: Kind, place: Kind) -> Typed:
    """Return 64 bits: the lowest says whether `table[place]` differs from what is before it, …."""

    def generate(
        context: Context, builder: Builder, signature: Signature, given: Sequence[Value]
    ) -> object:
        cells = context.make_array(signature.args[0])(context, builder, given[0]).data
        many = ir.VectorType(ir.IntType(8), 64)
        here = builder.bitcast(builder.gep(cells, [given[1]]), many.as_pointer())
        one_less = builder.sub(given[1], given[1].type(1))
        before = builder.bitcast(builder.gep(cells, [one_less]), many.as_pointer())
        differ = builder.icmp_unsigned(
            "!=", builder.load(here, align=1), builder.load(before, align=1)
        )
        bits = builder.bitcast(differ, ir.IntType(64))
        return bits if sys.byteorder == "little" else builder.bitreverse(bits)

    return types.uint64(table, place), generate


@intrinsic
def lowest_bit(_: object, bits: Kind) -> Typed:
    """Return the place of the lowest bit that is set; there must be one."""

    def generate(_: object, builder: Builder, __: object, given: Sequence[Value]) -> object:
        return builder.cttz(given[0], ir.IntType(1)(1))

    return types.int64(bits), generate


def write_kinds(source: Bytes, lower: bool, characters: Bytes, buffer: Bytes, kinds: Bytes) -> None:
    """Copy bytes, the capitals of ASCII lowered if they are to be, and write the kind of each.

    All bytes of a character have its kind. The first two loops are simple, so that they take many
    bytes at once; they leave bytes beyond ASCII to the third, needed only where there are any.
    """
    beyond = np.uint8(0)
    more = np.uint8(32) if lower else np.uint8(0)
    for i in range(source.size):
        byte = source[i]
        beyond |= byte
        capital = np.uint8(np.uint8(byte - np.uint8(65)) < np.uint8(26))
        buffer[i] = byte + more * capital
    for i in range(source.size):
        byte = source[i]
        letter = np.uint8(np.uint8((byte | np.uint8(32)) - np.uint8(97)) < np.uint8(26))
        digit = np.uint8(np.uint8(byte - np.uint8(48)) < np.uint8(10))
        joint = np.uint8((byte == 95) | (byte == 39) | (byte == 45))  # _ ' -
        mark = np.uint8(
            (byte == 36) | (byte == 33) | (byte == 63) | (byte == 37)  # $ ! ? %
            | (byte == 42) | (byte == 35) | (byte == 64)  # * # @
        )  # fmt: skip
        kinds[i] = (letter | digit | joint) + np.uint8(2) * mark
    if beyond < 128:
        return
    i = 0
    while i < source.size:
        first = int64(source[i])
        if first < 0xC0:
            i += 1
            continue
        width = 2 if first < 0xE0 else 3 if first < 0xF0 else 4
        code = first & (0x7F >> width)
        for j in range(1, width):
            code = code << 6 | (int64(source[i + j]) & 0x3F)
        for j in range(width):
            kinds[i + j] = characters[code]
        i += width


def find_tokens(kinds: Bytes, size: int, starts: Places, stops: Places, count: Places) -> None:
    """Write where tokens begin and end: where the kind of the bytes changes; count them."""
    many, start, kind = 0, 0, np.uint8(0)
    for place in range(1, size, 64):
        bits = changes(kinds, place)
        while bits != 0:
            stop = place + lowest_bit(bits)
            bits &= bits - uint64(1)
            starts[many] = start
            stops[many] = stop
            many += kind != 0  # written over if it was none
            start, kind = stop, kinds[stop]
    count[0] = many


def hash_words(buffer: Bytes, starts: Places, stops: Places, hashes: Keys) -> None:
    """Write the numbers of words."""
    for i in range(hashes.size):
        hashes[i] = word_hash(buffer, starts[i], stops[i])


def hash_grams(
    hashes: Keys, token_ends: Places, least: int, most: int, before: Keys, out: Keys, ends: Places
) -> None:
    """Write the numbers of all n-grams, `least` ≤ n ≤ `most`, in the order of their last words."""
    token = written = 0
    for document in range(token_ends.size):
        known = 0  # n-grams that end at the word before
        while token < token_ends[document]:
            word = hashes[token]
            known = min(known + 1, most)
            for n in range(known, 1, -1):
                before[n] = mixed(before[n - 1] * STEP_ + word)
            before[1] = word
            for n in range(least, known + 1):
                out[written] = before[n]
                written += 1
            token += 1
        ends[document] = written
