"""Principals as text, and back."""

import pytest

from moldau.security.principals import ANONYMOUS, Principal


def test_a_principal_is_written_with_its_kind() -> None:
    assert str(Principal("User", "alice")) == "User:alice"
    assert str(ANONYMOUS) == "User:ANONYMOUS"


def test_a_name_may_contain_colons() -> None:
    assert Principal.parse("User:a:b") == Principal("User", "a:b")


@pytest.mark.parametrize("text", ["alice", ":alice", ""])
def test_text_without_a_kind_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="write it as User:name"):
        Principal.parse(text)
