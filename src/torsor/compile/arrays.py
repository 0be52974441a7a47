"""Arguments of kernels: checked, named in every error message, and converted to rows that a kernel can read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from torsor.compile.program import Argument, spans
from torsor.errors import ArgumentError
from torsor.support.user_arrays import as_array, refuse_mask

#: numbers up to which an array is copied into C order for the built-in entry of a kernel
SMALL = 16_384
#: numbers that are copied in one go: a signal waits until they are
PIECE = 1 << 20


def as_rows(argument: Argument, value: Any, dtype: np.dtype) -> np.ndarray:
    """The argument as an array ``(..., *shape)`` of the kernel's type, or an error that names it."""
    array = value if value.__class__ is np.ndarray else _read(argument, value)
    if array.dtype.kind not in "fiu":
        symbols = any(hasattr(x, "free_symbols") for x in array.flat)  # SymPy's
        raise ArgumentError(
            f"{argument.name} must be an array of real numbers of shape {_expected_shape(argument)}, not of "
            + ("symbols; robot.symbolic() has the equations, torsor.algorithms take symbols" if symbols else str(array.dtype))
        )
    lead = array.ndim - len(argument.shape)
    if lead < 0 or array.shape[lead:] != argument.shape:
        raise ArgumentError(
            f"{argument.name} has shape {array.shape}, expected {_expected_shape(argument)}: "
            f"the last {'axis has' if len(argument.shape) == 1 else f'{len(argument.shape)} axes have'} "
            f"{' × '.join(map(str, argument.shape)) or 'no'} entries, axes before are a batch"
        )
    return array if array.dtype is dtype else copy_in_pieces(array, dtype)


def copy_in_pieces(array: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """A copy in C order, made in pieces, between which Python answers to Ctrl-C."""
    if array.size <= PIECE:
        return array.astype(dtype, order="C")
    out = np.empty(array.shape, dtype)
    _copy(array, out)
    return out


def _copy(array: np.ndarray, out: np.ndarray) -> None:
    step = max(1, PIECE * len(array) // array.size)
    for k in range(0, len(array), step):
        if array[k : k + step].size > 2 * PIECE and array.ndim > 1:  # one entry of the first axis is large
            _copy(array[k], out[k])
        else:
            out[k : k + step] = array[k : k + step]


def _read(argument: Argument, value: Any) -> np.ndarray:
    """An array of the value's own type; lists and numbers, which have no labels, are read quickly."""
    if value.__class__ in (list, tuple, float, int):
        refuse_mask(argument.name, value)
        try:
            return np.asarray(value)
        except Exception:  # for example rows of unequal length: as_array raises the error message
            pass
    return as_array(argument.name, value, argument.labels, expected=f"an array of shape {_expected_shape(argument)}")


def _expected_shape(argument: Argument) -> str:
    return f"(..., {', '.join(map(str, argument.shape))})" if argument.shape else "(...)"


def in_order(array: np.ndarray) -> np.ndarray:
    """A small array with its numbers in C order, copied if necessary; a large array is returned unchanged."""
    return array if array.size > SMALL or array.flags.c_contiguous else array.copy()


def batch_shape(arguments: Sequence[Argument], arrays: Sequence[np.ndarray]) -> tuple[int, ...]:
    """The common leading axes."""
    leads = [a.shape[: a.ndim - len(i.shape)] for i, a in zip(arguments, arrays, strict=True)]
    if all(lead == leads[0] for lead in leads):
        return leads[0]
    try:
        return np.broadcast_shapes(*leads)
    except ValueError:
        given = ", ".join(f"{i.name}: {lead}" for i, lead in zip(arguments, leads, strict=True))
        raise ArgumentError(f"the batch axes do not match ({given}); each must be equal, 1 or absent") from None


def rows(argument: Argument, array: np.ndarray, batch: tuple[int, ...]) -> tuple[np.ndarray, int]:
    """(array, bytes from row to row): rows of contiguous numbers; an argument without a batch repeats its one row."""
    if not argument.size:
        return np.empty((1, *argument.shape), array.dtype), 0
    flags, lead = array.flags, array.shape[: array.ndim - len(argument.shape)]
    row = argument.size * array.itemsize
    if lead == batch and flags.c_contiguous and flags.aligned:
        return array, row
    if all(n == 1 for n in lead):
        return np.require(array, requirements=["C", "A"]), 0
    if lead != batch:
        array = np.broadcast_to(array, (*batch, *argument.shape))
    if array.size > PIECE and len(batch) > 1 and not flags.c_contiguous:
        array = copy_in_pieces(array, array.dtype)
    flat = array.reshape(-1, argument.size)  # a view wherever the strides allow one
    if not flat.flags.aligned or (argument.size > 1 and flat.strides[1] != flat.itemsize):
        flat = copy_in_pieces(flat, flat.dtype)
    return flat, flat.strides[0]


def address(array: np.ndarray) -> int:
    """Address of the first number.  ``array.ctypes.data`` is the same, but takes a microsecond."""
    place: int = array.__array_interface__["data"][0]
    return place


#: bounds of magnitude within which the eighth powers of a quaternion, those of second derivatives, are finite
_ORDINARY = {np.dtype(np.float64): (1e-35, 1e35), np.dtype(np.float32): (1e-4, 1e4)}


def rescale_quaternions(
    arguments: Sequence[Argument], rays: Sequence[Sequence[int]], arrays: Sequence[np.ndarray]
) -> list[np.ndarray] | None:
    """Copies in which quaternions (the ``rays`` of a program) too large or small for powers are about 1 in size; or None.

    Only for calls whose result was not finite: ordinary quaternions are used without normalization.
    """
    out, changed = list(arrays), False
    for k, (place, array) in enumerate(zip(spans(arguments), arrays, strict=True)):
        for group in rays:
            if not place.start <= group[0] < place.stop:
                continue
            columns = [p - place.start for p in group]
            size = np.abs(array[..., columns]).max(axis=-1, keepdims=True)
            low, high = _ORDINARY[array.dtype]
            odd = ~((low < size) & (size < high)) & np.isfinite(size) & (size > 0)
            if odd.any():
                out[k] = out[k] if changed and out[k] is not array else array.copy()
                out[k][..., columns] = np.ldexp(array[..., columns], np.where(odd, -np.frexp(size)[1], 0))
                changed = True
    return out if changed else None


def check_finite(arguments: Sequence[Argument], arrays: Sequence[np.ndarray]) -> None:
    """Name the first number that is not finite."""
    for argument, array in zip(arguments, arrays, strict=True):
        bad = np.argwhere(~np.isfinite(array))
        if len(bad):
            place = tuple(int(k) for k in bad[0])
            at = f"[{', '.join(map(str, place))}]" if place else ""
            raise ArgumentError(f"{argument.name}{at} is {array[place]}; all numbers must be finite")


def arrays_of_out(outputs: Sequence[Argument], out: Any, batch: tuple[int, ...], dtype: np.dtype) -> list[np.ndarray]:
    """The caller's arrays, one for each output, if they fit the results; else an error with the expected type and shape."""
    given = [out] if len(outputs) == 1 else list(out) if isinstance(out, (tuple, list)) else []
    if len(given) != len(outputs):
        raise ArgumentError(f"out must hold {len(outputs)} arrays, one for each of {', '.join(o.name for o in outputs)}")
    for o, x in zip(outputs, given, strict=True):
        shape = (*batch, *o.shape)
        if not isinstance(x, np.ndarray) or x.shape != shape or x.dtype != dtype or not x.flags.writeable:
            found = f"{type(x).__name__}" + (f" of {x.dtype} {x.shape}" if isinstance(x, np.ndarray) else "")
            raise ArgumentError(f"out for {o.name} must be a writeable array of {dtype} with shape {shape}, not {found}")
    return given
