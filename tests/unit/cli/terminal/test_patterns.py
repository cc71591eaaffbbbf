"""Regular expressions that stand on the command line."""

import pytest

from moldau.cli.terminal.failure import CommandFailed
from moldau.cli.terminal.patterns import read_pattern


def test_a_list_is_a_pattern() -> None:
    pattern = read_pattern("a,b.*")
    assert [name for name in ("a", "b1", "c") if pattern.fullmatch(name)] == ["a", "b1"]


@pytest.mark.parametrize("text", ["[a", "*", "(", "a{99999999999}"])
def test_what_is_none_is_told(text: str) -> None:
    with pytest.raises(CommandFailed, match="is no regular expression"):
        read_pattern(text)
