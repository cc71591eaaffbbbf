"""Transcripts of command lines: what Apache Kafka 3.9's tools print, to compare ours with.

A transcript is a text file of steps:

    $ kafka-topics.sh --create --topic orders     a command; --bootstrap-server is added
    < a line of standard input
    | a line of standard output
    ! the first line of standard error, or the error that Apache prints on standard output
    = 0                                            the exit code

With `{zookeeper}` in it a command asks ZooKeeper instead: those in `transcripts/2.1` are of
Apache Kafka 2.1's tools. Comments begin with #. `{directory}` stands for a directory of the test,
in which a step `> name content` writes a file. `bin/python -m conformance.record_transcripts`,
with the tests on the path, writes outputs and exit codes anew from Apache's tools and broker.
"""

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

TRANSCRIPTS = Path(__file__).with_name("transcripts")
OLDER_TRANSCRIPTS = TRANSCRIPTS / "2.1"
_FAILURE = re.compile(
    r"^(Error while executing|Caused by: |Error: Executing|java\.|org\.apache|\tat )"
    r"|^\[\d{4}-\d\d-\d\d .*ERROR"
)


@dataclass(slots=True)
class Step:
    """One command with what it printed."""

    command: str
    stdin: list[str] = field(default_factory=list)
    stdout: list[str] = field(default_factory=list)
    error: str = ""
    code: int = 0

    def arguments(
        self, bootstrap: str, directory: Path, zookeeper: str = ""
    ) -> tuple[str, list[str]]:
        """The program's name, and its arguments for a broker or for ZooKeeper."""
        text = self.command.replace("{directory}", str(directory)).replace("{bootstrap}", bootstrap)
        text = text.replace("{zookeeper}", zookeeper)
        program, *arguments = shlex.split(text)
        is_told = (
            program in NO_BROKER or "{bootstrap}" in self.command or "{zookeeper}" in self.command
        )
        return program, arguments if is_told else ["--bootstrap-server", bootstrap, *arguments]

    @property
    def input(self) -> str:
        return "".join(f"{line}\n" for line in self.stdin)


NO_BROKER = ("kafka-dump-log.sh",)


@dataclass(slots=True)
class Transcript:
    """A file of steps."""

    comments: list[str]
    steps: list[Step | str]
    """Strings are files to be written, as `name content`."""

    def commands(self) -> Iterator[Step]:
        for each in self.steps:
            if isinstance(each, Step):
                yield each

    def write_files(self, directory: Path) -> None:
        for each in self.steps:
            if isinstance(each, str):
                name, _, content = each.partition(" ")
                (directory / name).write_text(content + "\n")


def read_transcript(path: Path) -> Transcript:
    transcript = Transcript([], [])
    step = Step("")
    for line in path.read_text().splitlines():
        mark, text = line[:1], line[2:]
        match mark:
            case "#":
                transcript.comments.append(text)
            case ">":
                transcript.steps.append(text)
            case "$":
                step = Step(text)
                transcript.steps.append(step)
            case "<":
                step.stdin.append(text)
            case "|":
                step.stdout.append(text)
            case "!":
                step.error = text
            case "=":
                step.code = int(text)
    return transcript


def write_transcript(path: Path, transcript: Transcript) -> None:
    lines = [f"# {comment}" for comment in transcript.comments]
    for each in transcript.steps:
        if isinstance(each, str):
            lines.append(f"> {each}")
            continue
        lines += ["", f"$ {each.command}"]
        lines += [f"< {line}" for line in each.stdin]
        lines += [f"| {line}".rstrip() for line in each.stdout]
        if each.error:
            lines.append(f"! {each.error}")
        lines.append(f"= {each.code}")
    path.write_text("\n".join(lines) + "\n")


_IDS = (
    (re.compile(r"TopicId: [\w-]{22}"), "TopicId: ID"),
    (re.compile(r"Cluster ID: [\w-]{22}"), "Cluster ID: ID"),
    (re.compile(r"127\.0\.0\.1:\d+"), "127.0.0.1:PORT"),
    (re.compile(r"(console-consumer|consumer-[\w-]+|producer)-[0-9a-f-]{36}"), r"\1-UUID"),
    (re.compile(r"Optional\[(\w+)\]"), r"\1"),
    (re.compile(r'"logDir":"[^"]*"'), '"logDir":"DIRECTORY"'),
    (re.compile(r"\d{13}"), "TIME"),
    # Names of Java's classes are of no use to those who read ours.
    (re.compile(r"(java\.util\.concurrent\.\w+: )?org\.apache\.kafka\.common\.errors\.\w+: "), ""),
)


def plain(text: str) -> str:
    """The text without what differs from run to run."""
    for pattern, replacement in _IDS:
        text = pattern.sub(replacement, text)
    return text.rstrip()


def output_lines(text: str) -> list[str]:
    """Lines of output without the report of a failure, which is compared as an error."""
    lines = [part for line in text.splitlines() for part in _parted(line)]
    return [plain(line) for line in lines if not _FAILURE.match(line)]


def _parted(line: str) -> list[str]:
    """Apache 3.9 forgets to end the lines of two tables, whose rows have fixed widths."""
    for title, width in (("NEW-OFFSET ", 88), ("STATUS ", 62)):
        if line.startswith(("GROUP ", "TOPIC ")) and title in line and len(line) > width:
            return [line[start : start + width] for start in range(0, len(line), width)]
    return [line]


def error_line(stdout: str, stderr: str) -> str:
    """The line that tells the user why it failed."""
    for line in (*stdout.splitlines(), *stderr.splitlines()):
        if line.startswith("Error while executing topic command"):
            return plain(line)
    for line in stderr.splitlines():
        found = re.search(r"(?:Exception|Error): (.*)", line)
        if line.startswith(("java.", "org.apache.")) and found:
            return plain(found[1])
    for line in stderr.splitlines():
        if line.strip() and not _FAILURE.match(line):
            return plain(line)
    return ""
