"""API keys: their shape, their checksum, their hash."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenants.keys import PREFIX, _checksum, hash_key, hint, mint, well_formed

KEY = mint()


def test_a_minted_key_has_the_documented_shape():
    assert re.fullmatch(r"mq-[A-Za-z0-9]{38}", KEY)
    assert well_formed(KEY)


def test_no_two_keys_are_equal():
    assert len({mint() for _ in range(1_000)}) == 1_000


@given(st.integers(len(PREFIX), len(KEY) - 1), st.sampled_from("abcXYZ019"))
def test_a_typo_is_recognised(place, letter):
    typo = KEY[:place] + letter + KEY[place + 1 :]

    assert well_formed(typo) is (typo == KEY)


@pytest.mark.parametrize(
    "key",
    [
        "",
        "mq-",
        KEY[:-1],
        KEY + "x",
        KEY.upper(),
        KEY.replace("mq-", "sk-"),
        " " + KEY,
        KEY + "\n",
        "mq-" + "é" * 32 + _checksum("é" * 32),
        "mq-" + " " * 32 + _checksum(" " * 32),
        "mq-" + "\ud800" * 38,
    ],
)
def test_what_is_no_key_is_recognised_without_a_look_up(key):
    assert not well_formed(key)


@given(st.text(max_size=60))
def test_any_text_can_be_asked_about(text):
    assert not well_formed(text)


def test_the_hash_depends_on_the_secret_and_the_key_and_does_not_show_it():
    kept = hash_key(b"secret", KEY)

    assert re.fullmatch(r"[0-9a-f]{64}", kept)
    assert kept == hash_key(b"secret", KEY)
    assert kept not in (hash_key(b"another", KEY), hash_key(b"secret", mint()))
    assert KEY not in kept


def test_the_hint_is_the_last_four_characters():
    assert hint(KEY) == KEY[-4:]
