"""Compiled functions of tests, which call pieces of the engine and are called from Python."""

import numba

kernel = numba.njit(error_model="numpy")
