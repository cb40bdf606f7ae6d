"""An iterator for compiled code that costs no more than a while loop.

numba's own generators keep their state behind a function call, which made ``for move in moves``
four times as slow as the loop it stands for.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numba import types
from numba.core import cgutils
from numba.core.imputils import RefType, iternext_impl
from numba.extending import lower_builtin, models, register_model, type_callable


class WalkType(types.SimpleIteratorType):
    """The iterator that a walk over a record's numbers compiles to."""

    def __init__(self, record: types.Record, following: Callable) -> None:
        self.record = record
        self.following = following
        super().__init__(f"walk({record}, {following.__qualname__})", types.int64)


@register_model(WalkType)
class WalkModel(models.StructModel):
    """The record, and a place on the stack for the number that comes next."""

    def __init__(self, manager: object, walk: WalkType) -> None:
        members = [("record", walk.record), ("place", types.EphemeralPointer(types.int64))]
        super().__init__(manager, walk, members)


def compile_walk(walk: Callable, first: Callable, following: Callable) -> None:
    """Let compiled code run ``for x in walk(record)``.

    It begins at first(record) and goes on with following(record, x); 0 ends it. Both must be
    callable from compiled code. What follows is worked out before the loop's body runs.
    """

    def start(record):
        return np.int64(first(record))

    def step(record, number):
        return np.int64(following(record, number))

    @type_callable(walk)
    def type_walk(context):
        return lambda record: WalkType(record, step) if isinstance(record, types.Record) else None

    @lower_builtin(walk, types.Record)
    def lower_walk(context, builder, signature, args):
        iterator = context.make_helper(builder, signature.return_type)
        iterator.record = args[0]
        number = context.compile_internal(builder, start, types.int64(*signature.args), args)
        iterator.place = cgutils.alloca_once_value(builder, number)
        return iterator._getvalue()


@lower_builtin("getiter", WalkType)
def lower_getiter(context, builder, signature, args):
    """Give the iterator itself."""
    return args[0]


@lower_builtin("iternext", WalkType)
@iternext_impl(RefType.UNTRACKED)
def lower_iternext(context, builder, signature, args, result):
    """Yield the number in its place, and put the one that follows there."""
    walk = signature.args[0]
    iterator = context.make_helper(builder, walk, value=args[0])
    number = builder.load(iterator.place)
    more = builder.icmp_signed("!=", number, number.type(0))
    result.set_valid(more)
    with builder.if_then(more):
        result.yield_(number)
        found = context.compile_internal(
            builder,
            walk.following,
            types.int64(walk.record, types.int64),
            [iterator.record, number],
        )
        builder.store(found, iterator.place)
