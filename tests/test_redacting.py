"""What must not be written down is found in whatever form it stands."""

from __future__ import annotations

import base64
import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nodes.redacting import DEEPEST, LEFT_OUT, TOO_DEEP, Redaction
from tools.redaction import HIDDEN

SECRET = 'kñ9?>/ "&+~ü\\x'
secrets = st.text(st.characters(exclude_categories=["Cs"]), min_size=6, max_size=24).filter(
    lambda text: len(text.strip()) >= 6 and text not in HIDDEN
)


def cleaned(data: Any, *known: str) -> str:
    return json.dumps(Redaction(secrets=known or (SECRET,)).clean(data), ensure_ascii=False)


@pytest.mark.parametrize(
    "form",
    [
        SECRET,
        SECRET.encode().hex(),
        SECRET.encode().hex().upper(),
        quote(SECRET),
        quote(SECRET, safe=""),
        quote_plus(SECRET),
        quote(SECRET, safe="").replace("%C3", "%c3").replace("%2F", "%2f").lower(),
        json.dumps(SECRET)[1:-1],
        json.dumps(SECRET, ensure_ascii=False)[1:-1],
    ],
)
def test_every_form_of_a_secret_is_hidden(form: str) -> None:
    assert form not in cleaned(f"a {form} b") and HIDDEN in cleaned([f"a {form} b"])
    assert HIDDEN in cleaned({form: 1}), "in names too"


@given(secret=secrets, before=st.binary(max_size=7), after=st.binary(max_size=7), urlsafe=st.booleans())
def test_base64_is_found_wherever_the_secret_stands_in_it(
    secret: str, before: bytes, after: bytes, urlsafe: bool
) -> None:
    encode = base64.urlsafe_b64encode if urlsafe else base64.b64encode
    text = encode(before + secret.encode() + after).decode()
    shown = Redaction(secrets=(secret,)).clean(text)
    assert shown != text and HIDDEN in shown
    rest = shown.split(HIDDEN)
    assert sum(map(len, rest)) <= len(encode(before + after)) + 6, "only what is partly made of it may stay"


@given(secret=secrets, before=st.text(max_size=9), after=st.text(max_size=9))
def test_no_known_secret_stays_in_a_text(secret: str, before: str, after: str) -> None:
    shown = Redaction(secrets=(secret,)).clean(f"{before}{secret}{after}")
    assert secret not in shown.replace(HIDDEN, "\0")


def test_a_secret_that_holds_another_is_hidden_whole() -> None:
    assert cleaned("x abcdefghij y abcdef z", "abcdef", "abcdefghij") == f'"x {HIDDEN} y {HIDDEN} z"'


def test_what_looks_like_a_secret_is_hidden_without_being_known() -> None:
    shown = Redaction().clean(
        {
            "text": "use sk-abcdefgh12345678 now",
            "password": "two words",
            "Authorization": "Bearer x",
            "pin_token": 12345678,
            "tokens": 12,
            "seconds": 1.5,
            "ok": True,
            "nothing": None,
        }
    )
    assert shown == {
        "text": f"use {HIDDEN} now",
        "password": HIDDEN,
        "Authorization": HIDDEN,
        "pin_token": HIDDEN,
        "tokens": 12,
        "seconds": 1.5,
        "ok": True,
        "nothing": None,
    }


def test_two_names_that_are_hidden_stay_two() -> None:
    shown = Redaction().clean({"sk-abcdefgh1234": 1, "sk-abcdefgh1235": 2, "sk-abcdefgh1236": 3})
    assert sorted(shown.values()) == [1, 2, 3]


def test_whatever_it_is_given_it_gives_plain_json() -> None:
    class Odd:
        def __str__(self) -> str:
            raise RuntimeError

    class Holder:
        def __repr__(self) -> str:
            return f"Holder({SECRET})"

    loop: list[Any] = []
    loop.append(loop)
    data = {1: (2, {3}), "nan": float("nan"), "odd": Odd(), "holder": Holder(), "long": 10**5000, "loop": loop}
    shown = Redaction(secrets=(SECRET,)).clean(data)
    text = json.dumps(shown, allow_nan=False)
    assert shown["1"] == [2, [3]] and shown["nan"] == "nan" and shown["odd"] == "<Odd>" and TOO_DEEP in text
    assert shown["holder"] == f"Holder({HIDDEN})" and shown["long"] == "<int>"


def test_nesting_is_kept_as_far_as_it_is_written_down() -> None:
    data: Any = "x"
    for _ in range(DEEPEST):
        data = [data]
    assert Redaction().clean(data) == data and TOO_DEEP in json.dumps(Redaction().clean([data]))


def test_personal_data_is_hidden_by_kind() -> None:
    data = {"said": "me@example.com, 4111 1111 1111 1111 from 10.0.0.1", "card": 4111111111111111, "other": 4111}
    assert Redaction().clean(data) == data
    shown = Redaction(pii=("email", "credit_card", "ip")).clean(data)
    assert shown == {"said": "[email], [credit_card] from [ip]", "card": "[credit_card]", "other": 4111}
    assert Redaction(pii=("url", "mac_address")).clean("http://a.b/c 00:11:22:33:44:55") == "[url] [mac_address]"


@pytest.mark.parametrize("filling", ["word ", "x"])
def test_personal_data_is_found_anywhere_in_a_long_text(filling: str) -> None:
    email = Redaction(pii=("email",))
    for before in (0, 1_590, 1_999, 2_000, 3_195, 9_000):
        text = f"{(filling * before)[:before]} me@example.com {filling * 3_000}"
        assert email.clean(text) == text.replace("me@example.com", "[email]")


def test_a_hostile_text_does_not_keep_it_busy() -> None:
    everything = Redaction(pii=("email", "credit_card", "ip", "mac_address", "url"))
    began = time.monotonic()
    for text in ("a." * 25_000, "1-" * 25_000, "a@" * 25_000):
        everything.clean(text)
    assert time.monotonic() - began < 10


def test_thoughts_can_be_left_out() -> None:
    data = {"thought": "hm", "calls": [{"reasoning": {"a": 1}, "name": "add"}]}
    assert Redaction().clean(data) == data
    shown = Redaction(thoughts="drop").clean(data)
    assert shown == {"thought": LEFT_OUT, "calls": [{"reasoning": LEFT_OUT, "name": "add"}]}


def test_what_cannot_work_is_said_at_once() -> None:
    for secret in ("short", "", "  abc   "):
        with pytest.raises(ValueError, match="fewer than 6"):
            Redaction(secrets=(secret,))
    with pytest.raises(ValueError, match="'shoe_size' is no kind of personal data"):
        Redaction(pii=("shoe_size",))
    with pytest.raises(ValueError, match="keep"):
        Redaction(thoughts="maybe")  # type: ignore[arg-type]


def test_it_never_shows_its_secrets() -> None:
    assert SECRET not in repr(Redaction(secrets=(SECRET,))) and "kñ9" not in repr(Redaction(secrets=(SECRET,)))


def test_secrets_come_from_the_environment() -> None:
    environment = {
        "OPENAI_API_KEY": "hidden-one",
        "PGPASSWORD": "hidden-two",
        "AWS_ACCESS_KEY_ID": "hidden-three",
        "DB_PWD": "hidden-four\n",
        "github_token": "hidden-five",
        "REASONACT_AUDIT_KEY": "hidden-six",
        "SHORT_KEY": "1234567",
        "PWD": "/work/main",
        "OLDPWD": "/work/other",
        "MAX_TOKENS": "500000000",
        "TOKENIZERS_PARALLELISM": "false...",
        "SSH_KEY_FILE": "/home/me/.ssh/id",
        "MONKEY": "long enough",
    }
    found = Redaction.from_environment(environment, pii=("ip",), secrets=("given one",))
    expected = {f"hidden-{number}" for number in ("one", "two", "three", "four", "five", "six")}
    assert set(found.secrets) == {*expected, "given one"} and found.pii == ("ip",)


def test_langchains_middleware_is_imported_only_for_personal_data() -> None:
    code = (
        "import sys; from nodes.redacting import Redaction; Redaction().clean('x')\n"
        "assert 'langchain.agents' not in sys.modules\n"
        "Redaction(pii=('ip',)); assert 'langchain.agents' in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], cwd=Path(__file__).parents[1], check=True, timeout=60)
