"""Transcripts of command lines: what Apache Kafka 3.9's tools print, to compare ours with.

A transcript is a text file of steps:

    $ kafka-topics.sh --create --topic orders     a command; --bootstrap-server is added
    $ member GROUP TOPIC                           from here on somebody reads as a member
    < a line of standard input
    | a line of standard output; a mark ¶ shows that it ends with blanks
    ~ such a line that may stand elsewhere among those beside it that are marked like it
    ! the first line of standard error, or the error that Apache prints on standard output
    = 0                                            the exit code

With `{zookeeper}` in it a command asks ZooKeeper instead: those in `transcripts/2.1` are of
Apache Kafka 2.1's tools. Comments begin with #. `{directory}` stands for a directory of the test,
in which a step `> name content` writes a file. `bin/python -m conformance.record_transcripts`,
with the tests on the path, writes outputs and exit codes anew from Apache's tools and broker.
"""

import re
import shlex
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Protocol

from moldau.client.blocking import Consumer

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
    unordered: set[str] = field(default_factory=set)
    """Those lines of output whose order is not said."""
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

    def in_order(self, lines: Sequence[str]) -> list[str]:
        """Lines that may stand anywhere among others like them, in an order of our own."""
        wanted = {plain(line).strip() for line in self.unordered}
        found: list[str] = []
        for is_free, run in groupby(lines, key=lambda line: line.strip() in wanted):
            # Blanks may belong to the first or the last place.
            part = list(run)
            found += sorted(line.strip() for line in part) if is_free else part
        return found

    @property
    def input(self) -> str:
        return "".join(f"{line}\n" for line in self.stdin)


NO_BROKER = ("kafka-dump-log.sh", "member")
END = "¶"


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


class Printed(Protocol):
    """What a command left."""

    @property
    def code(self) -> int: ...

    @property
    def stdout(self) -> str: ...

    @property
    def stderr(self) -> str: ...


class Runner(Protocol):
    """Runs a program by the name of its script."""

    def __call__(self, program: str, /, *arguments: str, stdin: str) -> Printed: ...


def play(
    transcript: Transcript, bootstrap: str, directory: Path, run: Runner
) -> Iterator[tuple[Step, Printed]]:
    """Run one command after the other."""
    transcript.write_files(directory)
    with ExitStack() as stack:
        for step in transcript.commands():
            program, arguments = step.arguments(bootstrap, directory)
            if program == "member":
                stack.enter_context(member(bootstrap, *arguments))
            else:
                yield step, run(program, *arguments, stdin=step.input)


@contextmanager
def member(bootstrap: str, group: str, topic: str) -> Iterator[None]:
    """Somebody who has read what is there, and waits for more."""
    settings = {
        "bootstrap.servers": bootstrap,
        "client.id": "reader",
        "group.id": group,
        "auto.offset.reset": "earliest",
        "enable.auto.commit": "false",
    }
    with Consumer[bytes, bytes](settings) as consumer:
        consumer.subscribe([topic])
        deadline = time.monotonic() + 60
        while not consumer.poll(1.0):
            assert time.monotonic() < deadline, f"nothing is in {topic}"
        consumer.commit()
        yield


def compare(step: Step, done: Printed) -> None:
    """The same code, the same text, and for failures the same reason."""
    assert done.code == step.code, f"{step.command}: {done.stdout}{done.stderr}"
    if step.code:
        said = error_line(done.stdout, done.stderr)
        assert said, f"{step.command}: no reason is told"
        assert said in plain(step.error) or plain(step.error) in said, f"{step.command}: {said}"
    expected = [plain(line) for line in step.stdout]
    assert step.in_order(output_lines(done.stdout)) == step.in_order(expected), (
        f"{step.command}:\n{done.stdout}"
    )


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
            case "|" | "~":
                step.stdout.append(text.removesuffix(END))
                if mark == "~":
                    step.unordered.add(step.stdout[-1])
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
        for line in each.stdout:
            mark = "~" if line in each.unordered else "|"
            end = END if line.endswith((" ", "\t")) else ""
            lines.append(f"{mark} {line}{end}" if line else mark)
        if each.error:
            lines.append(f"! {each.error}")
        if each.arguments("", Path())[0] != "member":
            lines.append(f"= {each.code}")
    path.write_text("\n".join(lines) + "\n")


_IDS = (
    (re.compile(r"TopicId: [\w-]{22}"), "TopicId: ID"),
    (re.compile(r"Cluster ID: [\w-]{22}"), "Cluster ID: ID"),
    (re.compile(r"127\.0\.0\.1:\d+"), "127.0.0.1:PORT"),
    (re.compile(r"(console-consumer|consumer-[\w-]+|producer|reader)-[0-9a-f-]{36}"), r"\1-UUID"),
    (re.compile(r"Optional\[(\w+)\]"), r"\1"),
    (re.compile(r'"logDir":"[^"]*"'), '"logDir":"DIRECTORY"'),
    (re.compile(r"\d{13}"), "TIME"),
    # Apache 3.9 forgets the topic of an assignment, which older tools print.
    (re.compile(r"\b\w+(\(\d[\d,]*\))$"), r"\1"),
    # Names of Java's classes are of no use to those who read ours.
    (re.compile(r"(java\.util\.concurrent\.\w+: )?org\.apache\.kafka\.common\.errors\.\w+: "), ""),
)


def plain(text: str) -> str:
    """The text without what differs from run to run."""
    for pattern, replacement in _IDS:
        text = pattern.sub(replacement, text)
    return text


def output_lines(text: str) -> list[str]:
    """Lines of output without the report of a failure, which is compared as an error."""
    lines = [part for line in text.splitlines() for part in _parted(line)]
    # Java's report of a failure ends with an empty line.
    after = zip(["", *lines], lines, strict=False)
    return [
        plain(line)
        for before, line in after
        if not _FAILURE.match(line) and (line or not _FAILURE.match(before))
    ]


def _parted(line: str) -> list[str]:
    """Apache 3.9 forgets to end the lines of two tables, whose rows have fixed widths."""
    for title, width in (("NEW-OFFSET ", 88), ("STATUS ", 62)):
        if line.startswith(("GROUP ", "TOPIC ")) and title in line and len(line) > width:
            rows = line.split(" Error: ", 1)
            count = len(rows[0]) // width * width  # a reason may be longer than its column
            return [
                *(line[start : start + width] for start in range(0, count, width)),
                *filter(None, [line[count:]]),
            ]
    return [line]


def error_line(stdout: str, stderr: str) -> str:
    """The line that tells the user why it failed."""
    for line in (*stdout.splitlines(), *stderr.splitlines()):
        if line.startswith(("Error while executing topic", "Error while executing ACL")):
            return plain(line).rstrip()
        if line.startswith("Error while executing config command with args ") and "': " in line:
            return plain(line.partition("': ")[2]).rstrip()
    for line in stderr.splitlines():
        found = re.search(r"(?:Exception|Error): (.*)", line)
        if line.startswith(("java.", "org.apache.")) and found:
            return plain(found[1]).rstrip()
    for line in stderr.splitlines():
        if line.strip() and not _FAILURE.match(line):
            return plain(line).rstrip()
    return ""


def compare_in_time(step: Step, done: Printed, again: Callable[[], Printed]) -> None:
    """The same of what is only looked at, as soon as it is so.

    Apache's brokers hear of settings through ZooKeeper, a little later than they are made.
    """
    is_look = "--describe" in step.command or "--list" in step.command
    deadline = time.monotonic() + 60
    while True:
        try:
            return compare(step, done)
        except AssertionError:
            if not is_look or time.monotonic() > deadline:
                raise
        done = again()
