"""Compiled functions of tests, which call pieces of the engine and are called from Python."""

from functools import cache

import numba

kernel = numba.njit(error_model="numpy")


@cache
def from_python(piece):
    """A piece of the engine as a function that Python may call."""
    return kernel(lambda *arguments: piece(*arguments))
