"""Replaces the module `cython` when typed modules run as Python, so that only compiling needs Cython.

It is used even if Cython is installed, because importing Cython takes longer than importing half of the core. Types are
names for annotations; decorators leave functions as they are. mypy treats C types as Any: the compiler checks them.
"""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

_T = TypeVar("_T")

compiled: bool = False
nogil = gil = nullcontext()


def cfunc(function: _T) -> _T:
    """A function of C, which Python cannot see."""
    return function


ccall = cclass = final = inline = cfunc


def boundscheck(_on: bool) -> Callable[[_T], _T]:
    """Whether indexes are checked."""
    return cfunc


annotation_typing = cdivision = infer_types = initializedcheck = nonecheck = wraparound = boundscheck


def locals(**_types: object) -> Callable[[_T], _T]:  # noqa: A001
    """The types of parameters and local variables."""
    return cfunc


def returns(_type: object) -> Callable[[_T], _T]:
    """The type that a function returns."""
    return cfunc


def exceptval(_value: object = None, *, check: bool = True) -> Callable[[_T], _T]:  # noqa: ARG001
    """What a function of C returns when it raises."""
    return cfunc


def declare(_type: object, value: Any = None) -> Any:
    """A variable of a type of C, with its first value."""
    return value


def cast(_type: object, value: Any) -> Any:
    """The value as another type; here it stays what it is."""
    return value


if TYPE_CHECKING:

    def __getattr__(name: str) -> Any: ...

else:

    class _CType:
        """A type of C; with slices in brackets, a typed memoryview."""

        def __getitem__(self, _slices):  # noqa: ANN001, ANN204
            return self

    bint = char = uchar = short = ushort = uint = long = ulong = longlong = ulonglong = Py_ssize_t = size_t = _CType()
    const = int = float = double = Py_UCS4 = void = p_char = p_uchar = p_int = p_float = p_double = p_void = _CType()  # noqa: A001
