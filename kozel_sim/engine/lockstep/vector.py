"""The vector type: sixteen 32-bit words, one for each of sixteen matches, and what is done to them.

Legend
------
lane     one of the sixteen places of a vector; a match lives in one lane.
words    a vector of sixteen 32-bit integers (LLVM ``<16 x i32>``). Comparisons are signed, right
         shifts are not. An integer beside a vector stands for sixteen of it.
lanes    a vector of sixteen bits (LLVM ``<16 x i1>``): what a comparison gives, what ``select``,
         ``gather``, ``scatter`` and ``pack`` obey. ``~``, ``&`` and ``|`` combine them.
address  where a vector, or what is gathered from, begins in memory: an int64.

It is made of LLVM instructions that every processor has in some form. Where the processor has
AVX-512, ``look_up`` and ``pick_from`` are one instruction each; elsewhere they gather from memory.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import intrinsic, lower_builtin, models, register_model

from kozel_sim._native import has_feature
from kozel_sim.engine.bits import emit_threefry
from kozel_sim.engine.lockstep.layout import LANES, VECTOR_BYTES

I1, I32, I64 = ir.IntType(1), ir.IntType(32), ir.IntType(64)
I32S, I1S = ir.VectorType(I32, LANES), ir.VectorType(I1, LANES)
FLOATS = ir.VectorType(ir.FloatType(), LANES)


class Words(types.Type):
    """The numba type of a vector of words."""


class Lanes(types.Type):
    """The numba type of a vector of bits."""


words = Words(name="words")
lanes = Lanes(name="lanes")


@register_model(Words)
class _WordsModel(models.PrimitiveModel):
    def __init__(self, manager, fe_type):
        super().__init__(manager, fe_type, I32S)


@register_model(Lanes)
class _LanesModel(models.PrimitiveModel):
    def __init__(self, manager, fe_type):
        super().__init__(manager, fe_type, I1S)


def _constant(values: Sequence[int]) -> ir.Constant:
    return ir.Constant(I32S, [value & 0xFFFF_FFFF for value in values])


def _spread(builder, scalar):
    """Emit a vector of sixteen of an integer."""
    if isinstance(scalar, ir.Constant):
        return _constant([scalar.constant] * LANES)
    undefined = ir.Constant(I32S, ir.Undefined)
    word = builder.trunc(scalar, I32) if scalar.type.width > 32 else scalar
    one = builder.insert_element(undefined, word, ir.Constant(I32, 0))
    return builder.shuffle_vector(one, undefined, _constant([0] * LANES))


def _as_words(builder, value):
    return value if value.type == I32S else _spread(builder, value)


def _is_word(kind) -> bool:
    return isinstance(kind, Words | types.Integer)


def _known(kind):
    """Return the type that an operand is passed as."""
    return kind if isinstance(kind, Words) else types.int64


# ---------------------------------------------------------------------- operators


def _define(operation: Callable, emit: Callable, result: types.Type) -> None:
    """Define an operator of two vectors, or of a vector and an integer."""

    @infer_global(operation)
    class Template(AbstractTemplate):
        key = operation

        def generic(self, args, kws):
            if len(args) == 2 and all(map(_is_word, args)) and words in args:
                return signature(result, *map(_known, args))
            return None

    def lower(context, builder, sig, args):
        return emit(builder, *(_as_words(builder, arg) for arg in args))

    for kinds in ((words, words), (words, types.int64), (types.int64, words)):
        lower_builtin(operation, *kinds)(lower)


def _define_of_lanes(operation: Callable, emit: Callable, n: int = 2) -> None:
    """Define an operator of vectors of bits."""

    @infer_global(operation)
    class Template(AbstractTemplate):
        key = operation

        def generic(self, args, kws):
            return signature(lanes, *args) if args == (lanes,) * n else None

    lower_builtin(operation, *(lanes,) * n)(lambda c, builder, s, args: emit(builder, *args))


for _name, _emit in (
    ("and", ir.IRBuilder.and_),
    ("or", ir.IRBuilder.or_),
    ("xor", ir.IRBuilder.xor),
    ("add", ir.IRBuilder.add),
    ("sub", ir.IRBuilder.sub),
    ("mul", ir.IRBuilder.mul),
    ("lshift", ir.IRBuilder.shl),
    ("rshift", ir.IRBuilder.lshr),
):
    for _operation in (getattr(operator, f"__{_name}__"), getattr(operator, f"__i{_name}__")):
        _define(_operation, _emit, words)
        if _name in ("and", "or", "xor"):
            _define_of_lanes(_operation, _emit)
for _operation, _sign in (
    (operator.eq, "=="),
    (operator.ne, "!="),
    (operator.lt, "<"),
    (operator.le, "<="),
    (operator.gt, ">"),
    (operator.ge, ">="),
):
    _define(_operation, lambda b, x, y, sign=_sign: b.icmp_signed(sign, x, y), lanes)
_define_of_lanes(operator.invert, ir.IRBuilder.not_, 1)


@infer_global(operator.invert)
class _InvertWords(AbstractTemplate):
    key = operator.invert

    def generic(self, args, kws):
        return signature(words, words) if args == (words,) else None


lower_builtin(operator.invert, words)(lambda context, builder, sig, args: builder.not_(args[0]))


# ---------------------------------------------------------------------- words


@intrinsic
def splat(typingctx, value):
    """Return a vector of sixteen of an integer."""
    if not isinstance(value, types.Integer):
        return None
    return words(types.int64), lambda context, builder, sig, args: _spread(builder, args[0])


@intrinsic
def lane_numbers(typingctx):
    """Return 0 to 15."""
    return words(), lambda context, builder, sig, args: _constant(range(LANES))


@intrinsic
def select(typingctx, condition, yes, no):
    """Choose by lane."""

    def codegen(context, builder, sig, args):
        if sig.return_type == lanes:
            return builder.select(*args)
        return builder.select(args[0], *(_as_words(builder, arg) for arg in args[1:]))

    if yes == no == lanes:
        return lanes(lanes, lanes, lanes), codegen
    return words(lanes, _known(yes), _known(no)), codegen


@intrinsic
def bits(typingctx, value):
    """Count the bits of each word."""
    codegen = lambda context, builder, sig, args: _call(builder, "llvm.ctpop.v16i32", I32S, args)  # noqa: E731
    return words(words), codegen


@intrinsic
def index_of(typingctx, bit):
    """Return the index of each word's highest bit; -1 of none."""

    def codegen(context, builder, sig, args):
        zeros = _call(builder, "llvm.ctlz.v16i32", I32S, [args[0], ir.Constant(I1, 0)])
        return builder.sub(_constant([31] * LANES), zeros)

    return words(words), codegen


@intrinsic
def divide(typingctx, number, by):
    """Divide, rounding down; exact for numbers from 0 to 2**20 by 1 to 28."""

    def codegen(context, builder, sig, args):
        number, by = (builder.uitofp(arg, FLOATS) for arg in args)
        return builder.fptoui(builder.fdiv(number, by), I32S)

    return words(words, words), codegen


@intrinsic
def threefry(typingctx, c0, c1, c2, c3, k0, k1, k2, k3):
    """Return four words of each lane's counter and key; as ``kozel_sim.rng.threefry4x32``."""

    def codegen(context, builder, sig, args):
        args = [_as_words(builder, arg) for arg in args]
        made = emit_threefry(builder, args[:4], args[4:], LANES)
        return cgutils.pack_array(builder, made)

    kinds = [_known(kind) for kind in (c0, c1, c2, c3, k0, k1, k2, k3)]
    return types.UniTuple(words, 4)(*kinds), codegen


# ---------------------------------------------------------------------- lanes


@intrinsic
def some(typingctx, which):
    """Tell whether any lane is set."""

    def codegen(context, builder, sig, args):
        packed = builder.bitcast(args[0], ir.IntType(LANES))
        return builder.icmp_unsigned("!=", packed, ir.Constant(packed.type, 0))

    return types.boolean(lanes), codegen


@intrinsic
def how_many(typingctx, which):
    """Count the lanes that are set."""

    def codegen(context, builder, sig, args):
        return builder.zext(builder.ctpop(builder.bitcast(args[0], ir.IntType(LANES))), I64)

    return types.int64(lanes), codegen


@intrinsic
def first_lanes(typingctx, n):
    """Set the first n lanes."""

    def codegen(context, builder, sig, args):
        return builder.icmp_signed("<", _constant(range(LANES)), _spread(builder, args[0]))

    return lanes(types.int64), codegen


# ---------------------------------------------------------------------- memory


def _pointer(builder, address, kind):
    return builder.inttoptr(address, kind.as_pointer())


def _places(builder, address, index):
    """Emit the pointers to the words at some indices from an address."""
    pointers = builder.gep(_pointer(builder, address, I32), [index], source_etype=I32)
    pointers.type = ir.VectorType(I32.as_pointer(), LANES)
    return pointers


def _call(builder, name, result, args):
    kinds = [arg.type for arg in args]
    function = cgutils.get_or_insert_function(builder.module, ir.FunctionType(result, kinds), name)
    return builder.call(function, args)


def _gather(builder, places, which):
    align = ir.Constant(I32, 4)
    args = [places, align, which, _constant([0] * LANES)]
    return _call(builder, "llvm.masked.gather.v16i32.v16p0", I32S, args)


@intrinsic
def load(typingctx, address):
    """Return the vector at an address."""

    def codegen(context, builder, sig, args):
        return builder.load(_pointer(builder, args[0], I32S), typ=I32S, align=VECTOR_BYTES)

    return words(types.int64), codegen


@intrinsic
def load_list(typingctx, address):
    """Return sixteen words in a row, wherever they begin."""

    def codegen(context, builder, sig, args):
        return builder.load(_pointer(builder, args[0], I32S), typ=I32S, align=4)

    return words(types.int64), codegen


@intrinsic
def store(typingctx, address, value):
    """Write a vector at an address."""

    def codegen(context, builder, sig, args):
        value = _as_words(builder, args[1])
        builder.store(value, _pointer(builder, args[0], I32S), align=VECTOR_BYTES)
        return context.get_dummy_value()

    return types.void(types.int64, _known(value)), codegen


@intrinsic
def load_word(typingctx, address):
    """Return the (signed) word at an address."""

    def codegen(context, builder, sig, args):
        return builder.sext(builder.load(_pointer(builder, args[0], I32), typ=I32), I64)

    return types.int64(types.int64), codegen


@intrinsic
def store_word(typingctx, address, value):
    """Write the low word of an integer at an address."""

    def codegen(context, builder, sig, args):
        word = builder.trunc(args[1], I32)
        builder.store(word, _pointer(builder, args[0], I32))
        return context.get_dummy_value()

    return types.void(types.int64, types.int64), codegen


@intrinsic
def gather(typingctx, address, index, which):
    """Return the words at an address + 4 * index; 0 in the other lanes."""

    def codegen(context, builder, sig, args):
        return _gather(builder, _places(builder, args[0], args[1]), args[2])

    return words(types.int64, words, lanes), codegen


@intrinsic
def scatter(typingctx, address, index, which, value):
    """Write words at an address + 4 * index in some lanes."""

    def codegen(context, builder, sig, args):
        address, index, which, value = args
        places = _places(builder, address, index)
        align = ir.Constant(I32, 4)
        args = [_as_words(builder, value), places, align, which]
        _call(builder, "llvm.masked.scatter.v16i32.v16p0", ir.VoidType(), args)
        return context.get_dummy_value()

    return types.void(types.int64, words, lanes, _known(value)), codegen


@intrinsic
def pack(typingctx, address, which, value):
    """Write the words of the lanes that are set, one behind the other; return how many."""

    def codegen(context, builder, sig, args):
        address, which, value = args
        args = [value, _pointer(builder, address, I32), which]
        _call(builder, "llvm.masked.compressstore.v16i32", ir.VoidType(), args)
        return builder.zext(builder.ctpop(builder.bitcast(which, ir.IntType(LANES))), I64)

    return types.int64(types.int64, lanes, words), codegen


# ---------------------------------------------------------------------- tables


HAS_PERMUTE = has_feature("avx512f")


def _permute(builder, low, high, index):
    """Emit a look-up in a table of 16 (high is None) or 32 words."""
    if not HAS_PERMUTE:
        table = builder.alloca(ir.ArrayType(I32S, 2))
        whole = builder.bitcast(table, I32S.as_pointer())
        for i, half in enumerate((low, high)):
            if half is not None:
                builder.store(half, builder.gep(whole, [ir.Constant(I32, i)], source_etype=I32S))
        index = builder.and_(index, _constant([LANES - 1 if high is None else 31] * LANES))
        address = builder.ptrtoint(table, I64)
        return _gather(builder, _places(builder, address, index), ir.Constant(I1S, [1] * LANES))
    if high is None:
        return _call(builder, "llvm.x86.avx512.permvar.si.512", I32S, [low, index])
    return _call(builder, "llvm.x86.avx512.vpermi2var.d.512", I32S, [low, index, high])


def look_up(table: Sequence[int]) -> Callable:
    """Make an intrinsic that looks each word up in a table of up to 32 words."""
    padded = [*table, *[0] * (32 - len(table))]
    low = _constant(padded[:LANES])
    high = _constant(padded[LANES:]) if len(table) > LANES else None

    @intrinsic
    def found(typingctx, index):
        """Look up."""
        codegen = lambda context, builder, sig, args: _permute(builder, low, high, args[0])  # noqa: E731
        return words(words), codegen

    return found


@intrinsic
def pick_from(typingctx, low, high, index):
    """Look each word up in a table of 32 words."""
    codegen = lambda context, builder, sig, args: _permute(builder, *args)  # noqa: E731
    return words(words, words, words), codegen
