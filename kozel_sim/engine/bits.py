"""Typed words for kernels: 32-bit operations that numba would otherwise widen to 64 bits."""

from __future__ import annotations

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from kozel_sim._jit import inlined
from kozel_sim._native import has_feature
from kozel_sim.rng import PARITY, ROTATIONS, ROUNDS
from kozel_sim.view import KEPT_BYTES, LINE, VIEW_BYTES

I32 = ir.IntType(32)
LINE_WORDS = ir.VectorType(I32, LINE // 4)


@intrinsic
def popcount(typingctx, word):
    """Count the bits of a word."""
    if not isinstance(word, types.Integer):
        return None

    def codegen(context, builder, signature, args):
        return builder.zext(builder.ctpop(builder.trunc(args[0], I32)), ir.IntType(64))

    def codegen32(context, builder, signature, args):
        return builder.zext(builder.ctpop(args[0]), ir.IntType(64))

    return types.int64(word), codegen32 if word.bitwidth == 32 else codegen


@intrinsic
def lowest(typingctx, word):
    """Give the index of the lowest bit of a word that is not zero."""
    if not isinstance(word, types.Integer):
        return None

    def codegen(context, builder, signature, args):
        value = args[0] if word.bitwidth == 32 else builder.trunc(args[0], I32)
        count = builder.cttz(value, ir.Constant(ir.IntType(1), 1))
        return builder.zext(count, ir.IntType(64))

    return types.int64(word), codegen


@intrinsic
def trailing_zeros(typingctx, word):
    """Give the index of the lowest bit of a 64-bit word that is not zero."""

    def codegen(context, builder, signature, args):
        return builder.cttz(args[0], ir.Constant(ir.IntType(1), 1))

    return types.int64(types.uint64), codegen


@intrinsic
def highest(typingctx, word):
    """Give the index of the highest bit of a 64-bit word that is not zero."""

    def codegen(context, builder, signature, args):
        count = builder.ctlz(args[0], ir.Constant(ir.IntType(1), 1))
        return builder.sub(ir.Constant(ir.IntType(64), 63), count)

    return types.int64(types.int64), codegen


@intrinsic
def pick(typingctx, condition, yes, no):
    """Choose a value by 1 or 0 without a branch, where it could not be predicted."""

    def codegen(context, builder, signature, args):
        return builder.select(builder.trunc(args[0], ir.IntType(1)), args[1], args[2])

    return types.int64(types.int64, types.int64, types.int64), codegen


@intrinsic
def _deposit(typingctx, bit, mask):
    """Move a bit to the place of the mask's bit of that rank (x86 BMI2)."""

    def codegen(context, builder, signature, args):
        signature32 = ir.FunctionType(I32, [I32, I32])
        name = "llvm.x86.bmi.pdep.32"
        pdep = cgutils.get_or_insert_function(builder.module, signature32, name)
        bit, mask = (builder.trunc(arg, I32) for arg in args)
        return builder.zext(builder.call(pdep, [bit, mask]), ir.IntType(64))

    return types.int64(types.int64, types.int64), codegen


def nth_tile_portable(mask, n):
    """Return the n-th lowest tile of a mask, as a mask."""
    for _ in range(n):
        mask &= mask - 1
    return mask & -mask


def nth_tile_bmi2(mask, n):
    """Return the n-th lowest tile of a mask, as a mask."""
    return _deposit(np.int64(1) << n, np.int64(mask))


HAS_BMI2 = has_feature("bmi2")
nth_tile = inlined(nth_tile_bmi2 if HAS_BMI2 else nth_tile_portable)


@intrinsic
def poke(typingctx, address, index, value):
    """Store a 64-bit integer at an address."""

    def codegen(context, builder, signature, args):
        place = builder.inttoptr(args[0], ir.IntType(64).as_pointer())
        builder.store(args[2], builder.gep(place, [args[1]]))
        return context.get_dummy_value()

    return types.void(types.int64, types.int64, types.int64), codegen


def _caller(kept):
    """Make an intrinsic that calls a function and undoes what it writes on its View's first bytes.

    In wide words: a copy of bytes would be a slow string instruction.
    """

    @intrinsic
    def call(typingctx, address, view):
        """Call a policy's C function with a pointer to the View."""

        def codegen(context, builder, signature, args):
            address, view = args
            lines = builder.bitcast(view, LINE_WORDS.as_pointer())
            places = [builder.gep(lines, [I32(i)]) for i in range(kept // LINE)]
            before = [builder.load(place, align=4) for place in places]
            function = ir.FunctionType(I32, [view.type]).as_pointer()
            move = builder.call(builder.inttoptr(address, function), [view])
            for place, value in zip(places, before):
                builder.store(value, place, align=4)
            return move

        return types.uint32(types.int64, view), codegen

    return call


call_on_line = _caller(KEPT_BYTES)
"""For a round on two ends: what stands behind is written anew for every decision."""
call_anywhere = _caller(VIEW_BYTES - LINE)
"""Undoes all but the last line, the parameters."""


@intrinsic
def copy_line(typingctx, to, source, index):
    """Copy row `index` of an array of rows as long as a line, to such a row."""

    def codegen(context, builder, signature, args):
        to, source = (
            builder.bitcast(
                context.make_array(kind)(context, builder, array).data, LINE_WORDS.as_pointer()
            )
            for kind, array in zip(signature.args[:2], args)
        )
        row = builder.load(builder.gep(source, [args[2]]), align=4)
        builder.store(row, to, align=4)
        return context.get_dummy_value()

    return types.void(to, source, types.int64), codegen


def _vector(values):
    return ir.Constant(ir.VectorType(I32, len(values)), list(values))


def _splat(builder, scalar, lanes):
    vector = ir.VectorType(I32, lanes)
    one = builder.insert_element(ir.Constant(vector, ir.Undefined), scalar, I32(0))
    return builder.shuffle_vector(one, ir.Constant(vector, ir.Undefined), _vector([0] * lanes))


def _rotate(builder, value, amount):
    lanes = value.type.count
    left = builder.shl(value, _vector([amount] * lanes))
    return builder.or_(left, builder.lshr(value, _vector([32 - amount] * lanes)))


def emit_threefry(builder, counter, key, lanes):
    """Emit Threefry-4x32 on vectors; as in ``kozel_sim.rng.threefry4x32``."""
    parity = _vector([PARITY] * lanes)
    for word in key:
        parity = builder.xor(parity, word)
    schedule = [*key, parity]
    x = [builder.add(c, k) for c, k in zip(counter, key, strict=True)]
    for r in range(ROUNDS):
        left, right = ROTATIONS[r % 8]
        b, d = (1, 3) if r % 2 == 0 else (3, 1)
        x[0] = builder.add(x[0], x[b])
        x[b] = builder.xor(_rotate(builder, x[b], left), x[0])
        x[2] = builder.add(x[2], x[d])
        x[d] = builder.xor(_rotate(builder, x[d], right), x[2])
        if r % 4 == 3:
            step = r // 4 + 1
            x = [builder.add(x[i], schedule[(step + i) % 5]) for i in range(4)]
            x[3] = builder.add(x[3], _vector([step] * lanes))
    return x


def _words_of_blocks(blocks):
    """Make an intrinsic that writes the words of several blocks of one stream."""
    lanes = len(blocks)

    @intrinsic
    def write_words(typingctx, out, key, round_, x, block, purpose):
        """Write word w of block + blocks[i] to out[lanes * w + i]."""

        def codegen(context, builder, signature, args):
            out, key, *counter = args
            array = context.make_array(signature.args[0])(context, builder, out)
            keys = context.make_array(signature.args[1])(context, builder, key)
            counter = [_splat(builder, builder.trunc(c, I32), lanes) for c in counter]
            counter[2] = builder.add(counter[2], _vector(blocks))
            key = [
                _splat(builder, builder.load(builder.gep(keys.data, [I32(i)])), lanes)
                for i in range(4)
            ]
            words = emit_threefry(builder, counter, key, lanes)
            vector = ir.VectorType(I32, lanes).as_pointer()
            for i, word in enumerate(words):
                place = builder.gep(array.data, [I32(lanes * i)])
                builder.store(word, builder.bitcast(place, vector), align=4)
            return context.get_dummy_value()

        number = types.int64
        signature = types.void(out, key, number, number, number, number)
        return signature, codegen

    return write_words


LANES = 8
RUN = tuple(range(LANES))
HALVINGS = (0, 1, 4, 5, 8, 9, 12, 13)

write_run = _words_of_blocks(RUN)
"""The words of eight blocks in a row."""
write_halvings = _words_of_blocks(HALVINGS)
"""The words of the first two blocks of each halving of a deal."""
