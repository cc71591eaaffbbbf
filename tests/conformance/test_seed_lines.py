"""Whether the files of `seeds` have every line of the seeds; with servers in test_seed_commands."""

from pathlib import Path

import pytest

from conformance.apache.cache import CLONE
from conformance.seed_lines import FILES, read_steps, seed_commands, start_line

SEEDS = sorted((CLONE.parent / "shared" / "seeds").glob("*.txt"))
needs_seeds = pytest.mark.skipif(not SEEDS, reason="the seeds are not beside the clone")


@needs_seeds
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_command_of_a_seed_is_played_in_its_place(path: Path) -> None:
    (seed,) = [each for each in SEEDS if each.stem.startswith(f"{path.stem}_")]
    played = iter([text for step in read_steps(path) for text in step.typed])
    commands = seed_commands(seed.read_text())
    assert commands
    for command in commands:
        assert command in played, f"{command} is missing, or not in its place"


@needs_seeds
def test_every_seed_with_commands_has_a_file() -> None:
    stems = {path.stem for path in FILES}
    for seed in SEEDS:
        has_file = seed.stem.partition("_")[0] in stems
        assert has_file == bool(seed_commands(seed.read_text())), seed.name


def test_a_seed_says_how_its_broker_is_started() -> None:
    assert start_line() == "./bin/kafka-server-start.sh -daemon config/server.properties &"
