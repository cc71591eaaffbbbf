"""Every transcript comes out as it is written."""

from pathlib import Path

import pytest

from scenarios.group_script import GroupScript

TRANSCRIPTS = sorted((Path(__file__).parent / "group").glob("*.txt"))


@pytest.mark.parametrize("path", TRANSCRIPTS, ids=lambda path: path.stem)
def test_the_group_behaves_as_in(path: Path) -> None:
    for line, expected, outcome in GroupScript().play(path.read_text()):
        assert outcome == expected, f"{path.name}: {line}"
