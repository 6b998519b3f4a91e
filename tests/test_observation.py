"""Whatever a tool returns or raises becomes bounded clean text, and no secret comes along."""

from __future__ import annotations

import dataclasses
import io
import json
import subprocess
import time
import unicodedata
from collections.abc import Callable
from datetime import date
from decimal import Decimal
from enum import Enum
from pathlib import Path
from typing import Any

import httpx2
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.documents import Document
from langchain_core.messages import ToolMessage
from langchain_core.tools import ToolException
from pydantic import BaseModel, SecretStr

from tools.observation import ToolFailure, clean, failure, shorten, tidy
from tools.redaction import without_secrets
from tools.values import SAFE_INT, Unreadable

CANARY = "CANARY5ecret"


class Colour(Enum):
    RED = "red"


class Weather(BaseModel):
    city: str
    degrees: float


@dataclasses.dataclass
class Place:
    name: str
    near: list[Any]


class Silent:
    def __str__(self) -> str:
        raise RuntimeError(CANARY)


class Broken(dict[str, int]):
    def items(self) -> Any:
        raise RuntimeError(CANARY)


def nested(depth: int) -> list[Any]:
    made: list[Any] = []
    for _ in range(depth):
        made = [made]
    return made


def itself() -> list[Any]:
    made: list[Any] = [1]
    made.append(made)
    return made


def bomb() -> list[Any]:
    made: list[Any] = ["a"]
    for _ in range(40):
        made = [made, made]
    return made


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("as it is", "as it is"),
        ("", ""),
        (None, "(nothing)"),
        (True, "true"),
        (0, "0"),
        (1.5, "1.5"),
        (2**70, "1180591620717411303424"),
        (10**5000, "an integer of 16,610 bits"),
        (float("nan"), "nan"),
        (float("-inf"), "-inf"),
        ({"城市": "北京", "ids": [1, 2]}, '{"城市": "北京", "ids": [1, 2]}'),
        ({1: "a", None: "b"}, '{"1": "a", "None": "b"}'),
        ([2**53 + 1, float("inf")], '["9007199254740993", "inf"]'),
        ((1, "a"), '[1, "a"]'),
        ({3, 1, 2}, "[1, 2, 3]"),
        (Weather(city="Rome", degrees=20.5), '{"city": "Rome", "degrees": 20.5}'),
        (Place("a", [Place("b", [])]), '{"name": "a", "near": [{"name": "b", "near": []}]}'),
        (date(2030, 1, 2), "2030-01-02"),
        (Decimal("1.50"), "1.50"),
        (Path("a/b"), "a/b"),
        (Colour.RED, "red"),
        (b"caf\xc3\xa9 \xff", "café \ufffd"),
        ([{"type": "text", "text": "one"}, {"type": "text", "text": "two"}], "one\ntwo"),
        ([{"type": "text", "text": "a chart"}, {"type": "image", "data": "iVBORw0KGgo="}], "a chart\n[image]"),
        (ToolMessage("said", tool_call_id="c"), "said"),
        ({"key": SecretStr(CANARY)}, '{"key": "**********"}'),
        ("a\0b\ud800c", "a\ufffdb?c"),
        ("one\r\ntwo\rthree\x1b[31m\tfour", "one\ntwo\ufffdthree\ufffd[31m\tfour"),
        ("e\u0301", "é"),
        ("pay \u202e001\u202c", "pay \ufffd001\ufffd"),
        ("hidden \U000e0069\U000e0067", "hidden \ufffd\ufffd"),
        (itself(), '[1, "[…]"]'),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_value_becomes_text(value: Any, text: str) -> None:
    assert clean(value).text == text


def test_depth_ends_at_32() -> None:
    text = clean(nested(10_000)).text
    assert text.count("[") == 33 and "[…]" in text


@pytest.mark.parametrize(
    "value",
    [
        object(), Silent(), [Silent()], Broken(a=1), (each for each in "ab"), iter([]), len, Weather,
        ValueError(CANARY), {"error": ValueError(CANARY)}, io.StringIO(CANARY), {"open": io.BytesIO()}, lambda: CANARY,
    ],
    ids=lambda value: type(value).__name__,
)  # fmt: skip
def test_what_is_no_result_is_refused(value: Any) -> None:
    with pytest.raises(Unreadable) as refused:
        clean(value)
    assert CANARY not in str(refused.value)


@pytest.mark.parametrize(
    "make",
    [
        lambda: "a" * 10_000_000,
        lambda: "a line\n" * 1_400_000,
        lambda: "\0a" * 5_000_000,
        lambda: "中文" * 1_600_000,
        lambda: b"a" * 10_000_000,
        lambda: list(range(1_000_000)),
        lambda: {str(i): "x" * 100 for i in range(100_000)},
    ],
    ids=["ascii", "lines", "NUL", "中文", "bytes", "list", "mapping"],
)
def test_ten_megabytes_are_quick_and_bounded(make: Callable[[], Any]) -> None:
    value = make()
    began = time.process_time()
    cleaned = clean(value, 4_000)
    assert time.process_time() - began < 1
    assert len(cleaned.text) <= 4_000 and cleaned.cut


def test_shared_parts_do_not_multiply() -> None:
    began = time.process_time()
    assert len(clean(bomb(), 4_000).text) <= 4_000
    assert time.process_time() - began < 6


def test_head_and_tail_are_kept() -> None:
    cleaned = clean("head" + "-" * 20_000 + "tail", 1_000)
    assert cleaned.text.startswith("head-") and cleaned.text.endswith("-tail")
    assert "\n[… 19,037 characters cut …]\n" in cleaned.text
    assert len(cleaned.full) == 20_008


@pytest.mark.parametrize("length", range(3_990, 4_060, 7))
def test_cut_says_whether_something_is_missing(length: int) -> None:
    cleaned = clean("x" * length, 4_000)
    assert cleaned.cut == (length > 4_000)
    assert len(cleaned.text) <= 4_000


def test_no_limit_and_no_room() -> None:
    assert clean("x" * 9_999, 0).text == "x" * 9_999
    assert shorten("x" * 50, 10) == "x" * 10


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(), inner, max_size=5),
    max_leaves=20,
)


@settings(max_examples=500, deadline=None)
@given(JSON, st.integers(0, 200))
def test_any_json_value_is_text_that_every_database_takes(value: Any, limit: int) -> None:
    cleaned = clean(value, limit)
    cleaned.text.encode("utf-8")
    assert "\0" not in cleaned.full
    assert not limit or len(cleaned.text) <= limit
    assert all(mark in "\n\t" or unicodedata.category(mark) != "Cc" for mark in cleaned.full)
    assert tidy(cleaned.full) == cleaned.full
    if isinstance(value, (list, dict)) and not limit:
        json.loads(cleaned.full, parse_constant=lambda constant: pytest.fail(constant))


@settings(max_examples=200, deadline=None)
@given(st.integers())
def test_no_number_in_json_loses_digits(number: int) -> None:
    (read,) = json.loads(clean([number], 0).text)
    assert int(read) == number
    assert isinstance(read, str) == (abs(number) > SAFE_INT)


REQUEST = httpx2.Request("GET", f"https://api.example/?api_key={CANARY}")


def answered(status: int) -> httpx2.HTTPStatusError:
    return httpx2.HTTPStatusError(f"{REQUEST.url}", request=REQUEST, response=httpx2.Response(status))


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (TimeoutError(CANARY), "timeout"),
        (httpx2.ReadTimeout(CANARY), "timeout"),
        (subprocess.TimeoutExpired(CANARY, 1), "timeout"),
        (PermissionError(CANARY), "permission"),
        (answered(403), "permission"),
        (FileNotFoundError(2, "no", f"/home/{CANARY}"), "not_found"),
        (KeyError(CANARY), "not_found"),
        (answered(404), "not_found"),
        (answered(429), "rate_limited"),
        (ConnectionResetError(CANARY), "connection"),
        (httpx2.ConnectError(CANARY), "connection"),
        (answered(503), "connection"),
        (ValueError(CANARY), "invalid_arguments"),
        (TypeError(CANARY), "invalid_arguments"),
        (Unreadable("a generator is not a result"), "unreadable_result"),
        (json.JSONDecodeError(CANARY, CANARY, 0), "tool_error"),
        (subprocess.CalledProcessError(1, ["curl", f"--token={CANARY}"]), "tool_error"),
        (RuntimeError(CANARY), "tool_error"),
        (RecursionError(CANARY), "tool_error"),
        (MemoryError(CANARY), "tool_error"),
        (StopIteration(CANARY), "tool_error"),
        (SystemExit(CANARY), "tool_error"),
        (ExceptionGroup(CANARY, [ValueError(CANARY)]), "tool_error"),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_an_exception_becomes_a_code_and_our_own_sentence(error: BaseException, code: str) -> None:
    told, sentence = failure(error, "weather")
    assert told == code
    assert sentence.startswith("weather failed") and CANARY not in sentence


@pytest.mark.parametrize("kind", [ToolFailure, ToolException])
def test_what_a_tool_says_on_purpose_is_told(kind: type[Exception]) -> None:
    assert failure(kind("there is no order 7"), "refund") == ("tool_error", "refund failed: there is no order 7")
    code, sentence = failure(kind(f"see https://h/?api_key={CANARY}\0" + "x" * 5_000), "refund")
    assert CANARY not in sentence and "\0" not in sentence and len(sentence) <= 1_020


def test_a_failure_that_cannot_be_shown_is_told_anyway() -> None:
    class Worse(ToolFailure):
        def __str__(self) -> str:
            raise RuntimeError(CANARY)

    assert failure(Worse(), "weather")[1].startswith("weather failed: ")


@pytest.mark.parametrize(
    "text",
    [
        f"api_key={CANARY}", f"OPENAI_API_KEY: {CANARY}", f'{{"token": "{CANARY}"}}', f"password = '{CANARY} {CANARY}'",
        f"Authorization: Bearer {CANARY}", f"authorization: Basic {CANARY}=", f"bearer {CANARY}1", f"--token {CANARY}",
        f"postgres://user:{CANARY}@host/db", f"https://h/p?a=1&access_token={CANARY}&b=2", f"https://h/p?sig={CANARY}",
        f"https://maps.example/?key={CANARY}", f"sk-{CANARY}", f"ghp_{CANARY}12345678", f"xoxb-{CANARY}",
        f"eyJhbGciOiJIUzI1.eyJzdWIiOiIx.{CANARY}", f"Cookie: session={CANARY}",
        f"-----BEGIN RSA PRIVATE KEY-----\n{CANARY}\n-----END RSA PRIVATE KEY-----", f"client_secret={CANARY}",
    ],
)  # fmt: skip
def test_secrets_are_hidden(text: str) -> None:
    assert CANARY not in without_secrets(f"the call said: {text} and failed")


@pytest.mark.parametrize(
    "text",
    [
        "the token expired", "the password must have eight letters", "no page about secrets", "https://example.org/a?b=c",
        "write to robin@example.org", "key facts: none", "the meeting is at 10:30", "there is no product 'TEA-99'",
    ],
)  # fmt: skip
def test_plain_words_stay(text: str) -> None:
    assert without_secrets(text) == text


@pytest.mark.parametrize("piece", ["api_key=", "://a:", "bearer ", "'", "token ", "eyJ", "sk-", "-----BEGIN ", "A_"])
def test_hiding_is_linear(piece: str) -> None:
    text = (piece * 40_000)[:40_000]
    began = time.process_time()
    without_secrets(text)
    assert time.process_time() - began < 1


def test_documents_are_read() -> None:
    assert "Rome is a city" in clean([Document("Rome is a city")]).text
