"""Command lines of the seeds, and what they are expected to print.

A file in `seeds` has steps, each of a line that is typed into a shell, exactly as the seed has it:

    $ bin/kafka-topics.sh --list ...   the line; `--list` and `--describe` are repeated
    & line                             what the fixture has run before: it starts a broker
    < text                             then this is typed, when the program asks for it
    | pattern                          then a line comes that has this
    ^C                                 then somebody interrupts it
    ! line                             what is asked, last, until it no longer prints the topic
"""

import re
from dataclasses import dataclass, field
from pathlib import Path

FILES = sorted(Path(__file__).with_name("seeds").glob("*.txt"))
_COMMAND = re.compile(r"^(?:[>#] *)?((?:\./)?(?:bin/)?(?:kafka-[\w-]+\.sh|zkCli\.sh).*)$")
_IN_SHELL = re.compile(r"^(?:\[zk: .*\] )?((?:ls|get|rmr) /.*)$")


@dataclass(slots=True)
class SeedStep:
    """A line, and what happens then: marks with texts."""

    line: str
    events: list[tuple[str, str]] = field(default_factory=list)
    is_done: bool = False
    """Whether the fixture has run it."""

    @property
    def is_question(self) -> bool:
        return bool({"--list", "--describe"} & set(self.line.split()))

    @property
    def topic(self) -> str:
        return self.line.rpartition("--topic ")[2]

    @property
    def typed(self) -> list[str]:
        """What somebody types, in order."""
        return [self.line, *(text for mark, text in self.events if mark == "<")]


def read_steps(path: Path) -> list[SeedStep]:
    steps: list[SeedStep] = []
    for line in path.read_text().splitlines():
        if line.startswith("$ "):
            steps.append(SeedStep(line[2:]))
        elif line.startswith("& "):
            steps.append(SeedStep(line[2:], is_done=True))
        elif line and not line.startswith("#"):
            mark, _, text = line.partition(" ")
            steps[-1].events.append((mark, text))
    return steps


def start_line() -> str:
    """How a seed starts its broker."""
    (line,) = {step.line for path in FILES for step in read_steps(path) if step.is_done}
    return line


def seed_commands(text: str) -> list[str]:
    """The command lines of a seed, and what it types into ZooKeeper's shell."""
    matches = (_COMMAND.match(line) or _IN_SHELL.match(line) for line in text.splitlines())
    return [match[1].strip() for match in matches if match]
