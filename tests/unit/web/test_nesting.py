"""Nesting is counted without following it."""

import json

from moldau.web.nesting import depth


def test_brackets_in_texts_are_no_nesting() -> None:
    assert depth(json.dumps({"a": '[[[[{{"\\', "b": [1]})) == 2


def test_a_million_brackets_are_counted_and_not_followed() -> None:
    assert depth("[" * 1_000_000) == 1_000_000


def test_a_text_without_an_end_does_not_matter() -> None:
    assert depth('[[["[[[[') == 3
