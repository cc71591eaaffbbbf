"""The words of a .proto are found between spaces and comments."""

import pytest

from moldau.registry.failures import InvalidSchema
from moldau.registry.schemas.proto_words import ProtoWords


def test_words_come_in_their_order() -> None:
    words = ProtoWords('message /* a\nb */ A { // c\n .x.Y f = 0x1F; "a" \'\\x41\\n\\101\\"\' }')
    assert words.take() == "message"
    assert (words.name(), words.peek(), words.peek_after()) == ("A", "{", ".x.Y")
    words.expect("{")
    assert [words.name(), words.name()] == [".x.Y", "f"]
    assert words.skip("=")
    assert words.integer() == 31
    assert not words.skip("}")
    words.expect(";")
    assert words.is_text()
    assert words.text() == 'aA\nA"'
    assert words.take() == "}"
    assert words.is_over
    assert (words.peek(), words.peek_after()) == ("", "")


def test_numbers_are_read_with_their_sign() -> None:
    words = ProtoWords("-5 010")
    assert (words.integer(), words.integer()) == (-5, 8)


@pytest.mark.parametrize("text", ['"no end', "§", "/* no end"])
def test_what_is_no_word_is_refused_with_its_line(text: str) -> None:
    with pytest.raises(InvalidSchema, match="line 2"):
        ProtoWords(f"a\n{text}")


def test_another_word_than_expected_is_refused_with_its_line() -> None:
    words = ProtoWords("a\n1.5")
    with pytest.raises(InvalidSchema, match=r"line 1.*'\{'"):
        words.expect("{")
    words.take()
    with pytest.raises(InvalidSchema, match="line 2"):
        words.name()
    with pytest.raises(InvalidSchema, match="whole"):
        words.integer()
    with pytest.raises(InvalidSchema, match="ends"):
        words.take()
