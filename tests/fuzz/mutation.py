"""Mutations: from good inputs and pieces of their syntax to damaged ones."""

from __future__ import annotations

import json
from copy import deepcopy
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence
    from random import Random

_DEEP = b"[" * 10_000  # deeper than Python's parser goes
_LONGEST = 100_000  # bytes: larger inputs only cost time
_ODD: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 1, 2, 255, 65536, 2**31, 2**53 + 1, 2**64, -(2**63), 10**30),
    *(0.5, -0.0, 1e308, float("nan"), float("inf")),
    *("", " ", "a", "\0", "\ud800", "é", "💡", "-1", "1e9", "null", "../../etc/passwd", "x" * 300, "a" * 5000),
    *([], {}, [[]], [None], [0, "a"], {"": 0}, {"a": {"b": []}}),
)


def mutate_bytes(rng: Random, data: bytes, tokens: Sequence[bytes], others: Sequence[bytes]) -> bytes:
    """Delete, duplicate, move and flip bytes, insert tokens, and splice in pieces of other inputs."""
    random = rng.random
    for _ in range(1 + int(random() ** 2 * 8)):
        size = len(data)
        start = int(random() * (size + 1))
        end = min(size, start + 1 + int(random() ** 4 * 200))
        choice = int(random() * 10)
        if choice == 0:
            data = data[:start] + data[end:]
        elif choice == 1:
            data = data[:start] + data[start:end] * (2 + int(random() ** 8 * 100)) + data[end:]
        elif choice <= 3 and tokens:
            data = data[:start] + tokens[int(random() * len(tokens))] + data[start if choice == 2 else end :]
        elif choice <= 5:
            flipped = data[start : start + 1] or b"\0"
            data = data[:start] + bytes((flipped[0] ^ (1 << int(random() * 8)),)) + data[start + 1 :]
        elif choice == 6:
            data = data[:start] + bytes((int(random() * 256),)) + data[start + 1 :]
        elif choice == 7:
            place = int(random() * (size + 1))
            data = data[:place] + data[start:end] + data[place:]
        elif choice == 8:
            other = others[int(random() * len(others))]
            piece = int(random() * (len(other) + 1))
            data = data[:start] + other[piece : piece + end - start] + data[end:]
        elif random() < 0.2:  # a file that breaks off
            data = data[:start]
    return data[:_LONGEST]


def mutate_json(rng: Random, data: bytes, tokens: Sequence[bytes], others: Sequence[bytes]) -> bytes:
    """Change the values of JSON, not its syntax; one time in four, and where it is no JSON, its bytes."""
    if rng.random() < 0.25:
        return mutate_bytes(rng, data, (*tokens, _DEEP), others)
    try:
        content = json.loads(data)
    except (ValueError, RecursionError):
        return mutate_bytes(rng, data, tokens, others)
    for _ in range(1 + int(rng.random() ** 2 * 4)):
        content = _mutate_value(rng, content, tokens)
    return json.dumps(content, separators=(",", ":")).encode()[:_LONGEST]


def _mutate_value(rng: Random, content: Any, tokens: Sequence[bytes]) -> Any:
    """Walk down to a random value, and change it where it stands."""
    if isinstance(content, dict) and content and rng.random() < 0.9:
        name = rng.choice(list(content))
        choice = rng.random()
        if choice < 0.1:
            del content[name]
        elif choice < 0.15:
            content[rng.choice(tokens).decode("utf-8", "replace") if tokens else "new"] = deepcopy(content[name])
        elif choice < 0.25:
            content[name] = deepcopy(content[rng.choice(list(content))])
        else:
            content[name] = _mutate_value(rng, content[name], tokens)
        return content
    if isinstance(content, list) and content and rng.random() < 0.9:
        place = int(rng.random() * len(content))
        choice = rng.random()
        if choice < 0.1:
            del content[place]
        elif choice < 0.2:
            content.insert(place, deepcopy(content[int(rng.random() * len(content))]))
        else:
            content[place] = _mutate_value(rng, content[place], tokens)
        return content
    choice = rng.random()
    if isinstance(content, str) and choice < 0.4:
        changed = mutate_bytes(rng, content.encode("utf-8", "surrogatepass"), tokens, [b"abc"])
        return changed.decode("utf-8", "replace")
    if isinstance(content, int | float) and choice < 0.3:
        return rng.choice((content + 1, content - 1, -content, content * 2, content / 2, str(content)))
    if tokens and choice < 0.5:
        return rng.choice(tokens).decode("utf-8", "replace")
    return deepcopy(rng.choice(_ODD))
