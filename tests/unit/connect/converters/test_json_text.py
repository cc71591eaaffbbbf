"""Values as text."""

import json

import pytest

from moldau.connect.converters.json_text import json_text


@pytest.mark.parametrize(
    "value", [{"a": [1, -2.5, True, None, 'ü\n"\u2028'], "b": {}}, "x", [], 10**30]
)
def test_texts_are_those_of_the_library(value: object) -> None:
    text = json.dumps(value, separators=(",", ":"), ensure_ascii=False)
    assert json_text(value) == text


def test_a_number_that_json_does_not_have_is_refused() -> None:
    with pytest.raises(ValueError, match="JSON compliant"):
        json_text([float("nan")])
