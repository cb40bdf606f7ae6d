"""Users' functions compiled so that they raise where plain Python does.

numba's own checks (a division by zero, an index behind a list) are switched on by its options. Here
is what it has none for: a negative shift, a number that is not in a function's domain, infinity
made whole, and a move that does not fit into the 32 bits that the engine takes. That an error is
raised is what counts: which one is told by asking plain Python about the same decision.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Hashable
from typing import Any

from numba.core import ir, types
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import FunctionPass, register_pass
from numba.core.untyped_passes import IRProcessing
from numba.extending import overload

_FLOATS = (types.Float,)
_LARGEST = 2.0**63


def _stand_in(known: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function to be compiled in another one's place."""

    def strict(*args: Any) -> Any:
        return known(*args)

    strict.__name__ = strict.__qualname__ = f"strict_{getattr(known, '__name__', known)}"
    return strict


def _checked_shift(known: Callable[..., Any]) -> Callable[..., Any]:
    strict = _stand_in(known)

    @overload(strict, strict=False)  # type: ignore[untyped-decorator]
    def shift(number: Any, count: Any) -> Any:
        if not (isinstance(count, types.Integer) and getattr(count, "signed", True)):
            return lambda number, count: known(number, count)

        def checked(number, count):  # type: ignore[no-untyped-def]
            if count < 0:
                raise ValueError("negative shift count")
            return known(number, count)

        return checked

    return strict


def _checked_number(known: Callable[..., Any]) -> Callable[..., Any]:
    """Check a function of a float: of what is finite plain Python returns finite, or raises."""
    strict = _stand_in(known)

    @overload(strict, strict=False)  # type: ignore[untyped-decorator]
    def number(value: Any) -> Any:
        if not isinstance(value, types.Number):
            return lambda value: known(value)

        def checked(value):  # type: ignore[no-untyped-def]
            found = known(value)
            wrong = not math.isfinite(found) and math.isfinite(value)
            if wrong or (math.isnan(found) and not math.isnan(value)):
                raise ValueError("math domain error")
            return found

        return checked

    return strict


def _checked_power(known: Callable[..., Any]) -> Callable[..., Any]:
    strict = _stand_in(known)

    @overload(strict, strict=False)  # type: ignore[untyped-decorator]
    def power(base: Any, exponent: Any) -> Any:
        numbers = isinstance(base, types.Number) and isinstance(exponent, types.Number)
        if not numbers or not (isinstance(base, _FLOATS) or isinstance(exponent, _FLOATS)):
            return lambda base, exponent: known(base, exponent)

        def checked(base, exponent):  # type: ignore[no-untyped-def]
            found = known(base, exponent)
            if not math.isfinite(found) and math.isfinite(base) and math.isfinite(exponent):
                raise ValueError("math domain error")
            return found

        return checked

    return strict


def _checked_whole(known: Callable[..., Any]) -> Callable[..., Any]:
    """Check what makes a float whole: int, round, math.floor and the like."""
    strict = _stand_in(known)

    @overload(strict, strict=False)  # type: ignore[untyped-decorator]
    def whole(*args: Any) -> Any:
        if len(args) != 1 or not isinstance(args[0], _FLOATS):
            return lambda *args: known(*args)

        def checked(*args):  # type: ignore[no-untyped-def]
            if not abs(args[0]) < _LARGEST:
                raise OverflowError("cannot convert float to integer")
            return known(args[0])

        return checked

    return strict


def as_move(value: Any) -> Any:
    """Return what a policy returns; compiled, raise where the engine's 32 bits would cut it."""
    return value


@overload(as_move, strict=False)  # type: ignore[untyped-decorator]
def _as_move(value: Any) -> Any:
    if not isinstance(value, types.Integer | types.Float):
        return lambda value: value

    def checked(value):  # type: ignore[no-untyped-def]
        if not 0 <= value < 4294967296:
            raise ValueError("a move has 32 bits")
        return value

    return checked


_OF_FLOATS = (
    *("acos", "acosh", "asin", "asinh", "atan", "atanh", "cos", "cosh", "erf", "erfc", "exp"),
    *("expm1", "gamma", "lgamma", "log", "log10", "log1p", "log2", "sin", "sinh", "sqrt"),
    *("tan", "tanh"),
)
_STRICT: dict[Any, Callable[..., Any]] = {
    **{known: _checked_number(known) for known in (getattr(math, name) for name in _OF_FLOATS)},
    math.pow: _checked_power(math.pow),
    **{known: _checked_whole(known) for known in (int, round, math.floor, math.ceil, math.trunc)},
}
"""By function: what stands in for it."""
_OPERATORS: dict[Any, Callable[..., Any]] = {
    **{known: _checked_shift(known) for known in (operator.lshift, operator.rshift)},
    operator.pow: _checked_power(operator.pow),
}


def _named(state: Any, value: Any) -> Any:
    """Return the function that is named, by itself or as one of the module math; else None."""
    if isinstance(value, ir.Global | ir.FreeVar):
        return value.value if isinstance(value.value, Hashable) else None
    if isinstance(value, ir.Expr) and value.op == "getattr":
        home = state.func_ir.get_definition(value.value)
        if isinstance(home, ir.Global | ir.FreeVar) and home.value is math:
            return getattr(math, value.attr, None)
    return None


def _is_harmless(state: Any, operand: Any) -> bool:
    """Tell whether an operand is a constant that is not negative, as in ``1 << 8``, ``x ** 2``."""
    try:
        found = state.func_ir.get_definition(operand)
    except KeyError:  # it has several
        return False
    return isinstance(found, ir.Const) and isinstance(found.value, int) and found.value >= 0


@register_pass(mutates_CFG=False, analysis_only=False)
class PutStandIns(FunctionPass):  # type: ignore[misc]
    """Put in a function's code what stands in for what it calls."""

    _name = "put_stand_ins"
    returns_move = False

    def __init__(self) -> None:
        FunctionPass.__init__(self)

    def run_pass(self, state: Any) -> bool:
        """Change the function that is being compiled; tell whether that is so."""
        blocks = list(state.func_ir.blocks.values())
        calls = [call for block in blocks for call in block.find_exprs(op="call")]
        called = {call.func.name for call in calls}
        assigned = [each for block in blocks for each in block.find_insts(ir.Assign)]
        found = [self._replace(state, each, called) for each in assigned]
        changed = any(found)
        if self.returns_move:
            for block in blocks:
                changed |= self._wrap_return(block)
        return changed

    def _replace(self, state: Any, assigned: ir.Assign, called: set[str]) -> bool:
        """Put a stand-in where a function is named to be called, or an operator stands."""
        value = assigned.value
        if assigned.target.name in called and (strict := _STRICT.get(_named(state, value))):
            assigned.value = ir.Global(strict.__name__, strict, value.loc)
            return True
        if not isinstance(value, ir.Expr):
            return False
        if value.op not in ("binop", "inplace_binop"):
            return False
        strict = _OPERATORS.get(value.fn if value.op == "binop" else value.immutable_fn)
        if strict is None or _is_harmless(state, value.rhs):
            return False
        unknown = {"static_lhs": ir.UNDEFINED, "static_rhs": ir.UNDEFINED}
        sides = {"lhs": value.lhs, "rhs": value.rhs}
        assigned.value = ir.Expr("binop", value.loc, fn=strict, **sides, **unknown)
        return True

    def _wrap_return(self, block: ir.Block) -> bool:
        changed = False
        for at, assigned in reversed(list(enumerate(block.body))):
            is_cast = isinstance(assigned, ir.Assign) and isinstance(assigned.value, ir.Expr)
            if is_cast and assigned.value.op == "cast":
                cast, loc = assigned.value, assigned.loc
                scope = assigned.target.scope
                checker, move = scope.redefine("$as_move", loc), scope.redefine("$move", loc)
                block.body[at:at] = [
                    ir.Assign(ir.Global("as_move", as_move, loc), checker, loc),
                    ir.Assign(ir.Expr.call(checker, [cast.value], (), loc), move, loc),
                ]
                assigned.value = ir.Expr.cast(move, loc)
                changed = True
        return changed


@register_pass(mutates_CFG=False, analysis_only=False)
class PutStandInsAndCheckMove(PutStandIns):
    """The same in a policy's own function, whose result is a move."""

    _name = "put_stand_ins_and_check_move"
    returns_move = True


class Helper(CompilerBase):  # type: ignore[misc]
    """How numba compiles a user's function that policies call."""

    stand_ins: type[FunctionPass] = PutStandIns

    def compile_extra(self, func: Callable[..., Any]) -> Any:
        """Compile it, and keep what numba gives only to functions that Python calls."""
        made = super().compile_extra(func)
        _compiled.append(made)
        return made

    def define_pipelines(self) -> list[Any]:
        """Return numba's own passes, and ours behind those that read the code."""
        passes = DefaultPassBuilder.define_nopython_pipeline(self.state)
        passes.add_pass_after(self.stand_ins, IRProcessing)
        passes.finalize()
        return [passes]


class PolicyCompiler(Helper):
    """How numba compiles a policy's own function."""

    stand_ins = PutStandInsAndCheckMove


_compiled: list[Any] = []
"""What ``give_environments`` has not looked after yet."""


def give_environments() -> None:
    """Give compiled functions what they make Python objects with, once their code is in memory.

    Without it a print stops in its middle, and keeps the lock that all of Python waits for.
    """
    while _compiled:
        made = _compiled.pop()
        codegen = made.target_context.codegen()
        name = made.target_context.get_env_name(made.fndesc)
        if codegen._engine.get_global_value_address(name):
            codegen.set_env(name, made.environment)
            _environments.append(made.environment)


_environments: list[Any] = []
"""Kept alive here: compiled code has their addresses."""
