"""Every transcript comes out as it is written."""

from pathlib import Path

import pytest

from scenarios.consumer_group_script import ConsumerGroupScript
from scenarios.group_script import GroupScript
from scenarios.transaction_script import TransactionScript

SCRIPTS: dict[str, type[GroupScript | TransactionScript]] = {
    "consumer_group": ConsumerGroupScript,
    "group": GroupScript,
    "transaction": TransactionScript,
}
TRANSCRIPTS = [
    pytest.param(folder, path, id=f"{folder}-{path.stem}")
    for folder in SCRIPTS
    for path in sorted((Path(__file__).parent / folder).glob("*.txt"))
]


@pytest.mark.parametrize(("folder", "path"), TRANSCRIPTS)
def test_the_machine_behaves_as_in(folder: str, path: Path) -> None:
    for line, expected, outcome in SCRIPTS[folder]().play(path.read_text()):
        assert outcome == expected, f"{path.name}: {line}"
