"""Compare a student's result with the expected one: its type, and where its values differ."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from torch import Tensor

# For sums that single precision computed in another order.
TOLERANCES = {"rtol": 1e-4, "atol": 1e-5}


def in_torch(value: Any) -> Any:
    """Return arrays and numbers of NumPy, alone or in a list, as tensors and plain numbers; all else as it is."""
    if type(value) in (tuple, list):
        return type(value)(in_torch(each) for each in value)
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        try:
            return torch.from_numpy(np.ascontiguousarray(value))
        except TypeError:  # of objects, or of text
            return value
    return value


def unfit(answer: Any, expected: Any) -> str:
    """Return what is wrong with the type of a result; "" if it can be compared."""
    if answer is None:
        return "Nothing is returned: is the `return` missing?"
    if _holds_tensors(expected):
        return _unfit_inside(answer, expected)
    if isinstance(expected, Tensor):
        if isinstance(answer, (tuple, list)) and answer and isinstance(answer[0], Tensor):
            return f"{_kind(answer)} is returned; return the first tensor alone, the output."
        if not isinstance(answer, Tensor):
            return f"{_kind(answer)} is returned; a tensor is expected, of shape {list(expected.shape)}."
        return ""
    if isinstance(expected, float):
        if isinstance(answer, bool) or not (
            isinstance(answer, (int, float)) or isinstance(answer, Tensor) and answer.numel() == 1
        ):
            return f"{_kind(answer)} is returned; a number is expected."
        return ""
    if _ids(answer) is None:
        return f"{_kind(answer)} is returned; a list of ids is expected, such as {expected[:3]}."
    return ""


def _unfit_inside(answer: Any, expected: Any) -> str:
    if not isinstance(answer, (tuple, list)) or isinstance(expected, tuple) and len(answer) != len(expected):
        form = f"{len(expected)} tensors are" if isinstance(expected, tuple) else "a list of pairs of tensors is"
        return f"{_kind(answer)} is returned; {form} expected."
    return next(filter(None, map(unfit, answer, expected)), "")


def _holds_tensors(expected: Any) -> bool:
    """Return whether a result is a tuple of tensors, or a list of such tuples."""
    return (
        isinstance(expected, tuple) or isinstance(expected, list) and any(isinstance(part, tuple) for part in expected)
    )


def not_bool(answer: Any, expected: Any) -> str:
    """Return what is wrong with a mask that may have the right numbers; "" if nothing is."""
    if not isinstance(expected, Tensor) or expected.dtype != torch.bool or answer.dtype == torch.bool:
        return ""
    return (
        f"The mask is {answer.dtype}; make it bool, True where a query may look: `&`, `~` and `masked_fill` want that."
    )


def _kind(value: Any) -> str:
    if isinstance(value, Tensor):
        return f"A tensor of shape {list(value.shape)}"
    if isinstance(value, (tuple, list)):
        return f"A {type(value).__name__} of {len(value)}"
    return f"A value of type {type(value).__name__}"


def _ids(value: Any) -> list[int] | None:
    """Return a list of ids, also from a tensor; None where it is something else."""
    values = value.tolist() if isinstance(value, Tensor) else value
    if not isinstance(values, (list, tuple)):
        return None
    plain = [v.item() if isinstance(v, Tensor) and v.numel() == 1 else v for v in values]
    ids = [v for v in plain if isinstance(v, int)]
    return ids if len(ids) == len(plain) else None


def alike(answer: Any, expected: Any) -> bool:
    if _holds_tensors(expected):
        return len(answer) == len(expected) and all(
            alike(part, expected_part) for part, expected_part in zip(answer, expected, strict=True)
        )
    if isinstance(expected, list):
        return _ids(answer) == expected
    if isinstance(expected, float):
        return bool(torch.isclose(_double(answer), _double(expected), rtol=TOLERANCES["rtol"], atol=0.0).all())
    if answer.shape != expected.shape:
        return False
    return torch.allclose(_double(answer), _double(expected), **TOLERANCES, equal_nan=True)


def difference(answer: Any, expected: Any) -> str:
    """Return where the first number or the shape differs; a NaN comes before all other differences."""
    if _holds_tensors(expected):
        if len(answer) != len(expected):
            return f"Yours has {len(answer)} parts; {len(expected)} are expected."
        at, part, expected_part = next(
            (at, answer_part, expected_part)
            for at, (answer_part, expected_part) in enumerate(zip(answer, expected, strict=True))
            if not alike(answer_part, expected_part)
        )
        return (
            f"In {at}: {difference(part, expected_part)}"
            if isinstance(expected, list)
            else difference(part, expected_part)
        )
    if isinstance(expected, list):
        return f"Yours is {_ids(answer)}; ours is {expected}."
    if isinstance(expected, float):
        return f"Yours is {float(answer):.4g}; ours is {expected:.4g}."
    if answer.shape != expected.shape:
        return f"Yours has the shape {list(answer.shape)}; {list(expected.shape)} is expected."
    answer_values, expected_values = _double(answer), _double(expected)
    wrong = ~torch.isclose(answer_values, expected_values, **TOLERANCES, equal_nan=True)
    undefined = wrong & answer_values.isnan()
    index = tuple((undefined if undefined.any() else wrong).nonzero()[0].tolist())
    position = f"At {list(index)} yours" if index else "Yours"
    how_many = f" {int(wrong.sum())} of {wrong.numel()} numbers differ." if wrong.numel() > 1 else ""
    return f"{position} is {_number(answer[index])}; ours is {_number(expected[index])}.{how_many}"


def tensors(value: Any) -> Iterator[Tensor]:
    """Return the tensors in a result."""
    if isinstance(value, Tensor):
        yield value
    elif isinstance(value, (tuple, list)):
        for each in value:
            yield from tensors(each)


def _number(value: Tensor) -> str:
    return f"{value.item():.4f}" if value.is_floating_point() else str(value.item())


def _double(value: Any) -> Tensor:
    return torch.as_tensor(value).detach().cpu().double()
