"""A short fuzz test with a fixed seed: good pages, damaged at random."""

from __future__ import annotations

import importlib.util
import random
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from types import ModuleType

SECONDS = 3

SEEDS = [
    b"""<!doctype html><html lang=en><head><meta charset=utf-8><title>T | Site</title><link rel=canonical href=/x>
    <script type="application/ld+json">{"@type":"Article","headline":"T","author":{"name":"A"}}</script></head><body>
    <nav><ul><li><a href=/>Home</a></ul></nav><article><h1>T</h1><p>Words of a <b>text</b>, and more.<br><br>Words</p>
    <table><tr><th>A<th>B<tr><td>1<td>2</table><pre>  x\n y</pre></article><noscript><p>n</p></noscript></body>""",
    """<html><body bgcolor=white><center><font size=2>Привет 漢字 🙂</font></center><table><tr><td>a<td><p>b<table><tr>
    <td>c</table><select><option>d</select><dl><dt>e<dd>f</dl><template shadowrootmode=open><p>g</template>
    <math><mi>x</mi></math><svg><a href=javascript:x()>h</a></svg><p hidden style="display:none">i""".encode(),
    b"# Title\n\n* one\n* two\n\nwords and words\n---\n1. x\n",
]
PIECES = [
    *(
        b"<",
        b">",
        b"</",
        b"<!--",
        b"-->",
        b"&",
        b"&#",
        b'"',
        b"'",
        b"=",
        b"\x00",
        b"\xff\xfe",
        b"\x1b$B",
        b"\x01\x01",
        b"\x02",
    ),
    *(
        b"<p>",
        b"<table>",
        b"<td>",
        b"<a href=x>",
        b"</b>",
        b"<br>",
        b"<pre>",
        b"<template shadowrootmode=open>",
        b"<svg>",
    ),
    *(b"<math>", b"<select>", b"<plaintext>", b"<frameset>", b"</body>", b"\xc2\xad", b"\xed\xa0\x80", b"\xe2\x80\xa8"),
]


@pytest.fixture(scope="module")
def target() -> ModuleType:
    spec = importlib.util.spec_from_file_location("fuzz_clean", Path(__file__).with_name("fuzz_clean.py"))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def mutate(rng: random.Random, data: bytes) -> bytes:
    for _ in range(rng.randint(1, 12)):
        start = rng.randint(0, len(data))
        end = min(len(data), start + rng.randint(0, 20))
        choice = rng.randint(0, 4)
        if choice == 0:  # lose a piece
            data = data[:start] + data[end:]
        elif choice == 1:  # say it again
            data = data[:start] + data[start:end] * rng.randint(1, 5) + data[end:]
        elif choice == 2:  # put something in
            data = data[:start] + rng.choice(PIECES) + data[start:]
        elif choice == 3:  # change a byte
            data = data[:start] + bytes([rng.randint(0, 255)]) + data[start + 1 :]
        else:  # move a piece
            other = rng.randint(0, len(data))
            data = data[:other] + data[start:end] + data[other:]
    return data


def test_damaged_pages_raise_nothing(target: ModuleType) -> None:
    rng = random.Random(20_07)
    end = time.perf_counter() + SECONDS
    count = 0
    while count <= 100 or (count < 3000 and time.perf_counter() < end):
        count += 1
        data = rng.randbytes(2) + mutate(rng, rng.choice(SEEDS))
        try:
            target.fuzz_one(data)
        except Exception as error:
            pytest.fail(f"page {count}, {data!r}: {error!r}")
