"""Query topics in SQL, and run streams from one topic to another, on Spark."""

import signal
import sys
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from moldau.cli.streams import clients, pairs
from moldau.cli.terminal.failure import CommandFailed
from moldau.cli.terminal.options import BOOTSTRAP_SERVER, COMMAND_CONFIG, Given, Option, Options
from moldau.cli.terminal.web_address import address_with_login
from moldau.errors import KafkaError

if TYPE_CHECKING:
    from moldau.streams.run.clients import ApplicationOptions
    from moldau.streams.sql.console import SqlConsole
    from moldau.streams.sql.shapes import TopicShape
    from moldau.streams.sql.statements import WatchQuery

_APPLICATION = "sql"
_CHECKPOINT = ".moldau/sql"
_ROWS = 1000
_PROMPT, _MORE = "moldau> ", "     -> "
_ENDS = ("quit", "exit")
_POLL_S = 0.25

OPTIONS = Options(
    "sql",
    "Runs SQL on Spark. Tables are topics.\n\n"
    "  moldau sql --bootstrap-server HOST:PORT -e 'SELECT * FROM orders LIMIT 5'\n\n"
    "`SELECT ... EMIT CHANGES` shows rows as they come. `CREATE STREAM name AS SELECT ...` runs a "
    "query that writes to the topic `name`. SHOW TOPICS and DESCRIBE topic show what is there. "
    "Without -e and -f it reads statements from the terminal.",
    BOOTSTRAP_SERVER,
    Option("e", "One statement, or several with semicolons between.", "SQL", aliases=("execute",)),
    Option("f", "A file of statements.", "FILE", aliases=("file",)),
    Option("schema-registry", "A registry that has schemas of topics: http://host:port.", "URL"),
    Option("output", "table, json (an object for each row) or csv.", "FORMAT"),
    Option("rows", f"How many rows to show; default: {_ROWS}.", "COUNT", kind=int),
    Option("from-beginning", "EMIT CHANGES: begin with the first records, not with new ones."),
    Option("available-now", "Streams process what is there, and end."),
    Option("checkpoint", f"Where streams store their progress; default: {_CHECKPOINT}.", "DIR"),
    Option("master", "Spark's master; default: local[*].", "URL"),
    Option(
        "option",
        "An option of the source, e.g. maxOffsetsPerTrigger=10000; with kafka. before its name, a "
        "setting of all clients that have it.",
        "NAME=VALUE",
    ),
    COMMAND_CONFIG,
    Option("conf", "A setting of Spark, e.g. spark.executor.memory=4g.", "NAME=VALUE"),
)


def main(arguments: Sequence[str]) -> int:
    """Run the command; returns the exit code."""
    given = OPTIONS.parse(arguments)
    given.require("bootstrap-server")
    given.refuse("e", "f")
    if given.rest:
        raise CommandFailed(f"{given.rest[0]}: a statement stands behind -e, in quotes")
    try:
        from moldau.streams.sql.output import FORMS  # noqa: PLC0415 - takes long
    except ModuleNotFoundError as error:
        raise CommandFailed(f"{error.name} is missing: pip install 'moldau[spark]'") from error
    form = given.text("output", FORMS[0])
    if form not in FORMS:
        raise CommandFailed(f"--output is {', '.join(FORMS)}, not {form}")
    text = _text(given)
    console, close = _begun(given)
    shell = SqlShell(console, given, form)
    signal.signal(signal.SIGTERM, lambda *_: shell.stop.set())
    # PySpark's own handler would cancel the jobs of running streams with the statement.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        return shell.converse(_typed) if text is None else shell.execute(text)
    finally:
        close()


def _text(given: Given) -> str | None:
    """What is to be run, if it is not typed."""
    if "f" in given:
        return Path(given.text("f")).read_text(encoding="utf-8")
    if "e" in given:
        return ";\n".join(given.texts("e"))
    return None if sys.stdin.isatty() else sys.stdin.read()


class SqlShell:
    """Runs statements and prints what they give, until they end or `stop` is set."""

    def __init__(self, console: "SqlConsole", given: Given, form: str) -> None:
        self.stop = threading.Event()
        self._console = console
        self._given = given
        self._form = form
        self._rows = given.number("rows", _ROWS)

    def execute(self, text: str) -> int:
        """All statements of a text; streams run until they end or are ended."""
        from moldau.streams.sql.statements import split  # noqa: PLC0415 - takes long

        statements, last = split(text)
        for statement in (*statements, *([last] if last else [])):
            if self.stop.is_set():
                return 0
            try:
                self._run(statement)
            except KeyboardInterrupt:
                return 0
        return self._accompany() if self._console.streams.are_there else 0

    def converse(self, ask: Callable[[str], str | None]) -> int:
        """Statements as they are typed, each with a semicolon at its end."""
        from moldau.streams.sql.statements import split  # noqa: PLC0415 - takes long

        begun = ""
        while not self.stop.is_set():
            try:
                line = ask(_MORE if begun else _PROMPT)
            except KeyboardInterrupt:
                print(file=sys.stderr)
                begun = ""
                continue
            if line is None or (not begun and line.strip().rstrip(";").lower() in _ENDS):
                break
            statements, begun = split(f"{begun}\n{line}")
            for statement in statements:
                self._try(statement)
        return 0

    def _try(self, statement: str) -> None:
        try:
            self._run(statement)
        except KeyboardInterrupt:
            print("interrupted", file=sys.stderr)
        except (CommandFailed, KafkaError, OSError, ValueError) as error:
            print(error, file=sys.stderr)
        for failure in self._console.streams.failures():
            print(failure, file=sys.stderr)

    def _run(self, statement: str) -> None:
        from moldau.streams.sql.output import rendered  # noqa: PLC0415 - takes long
        from moldau.streams.sql.statements import WatchQuery, parsed  # noqa: PLC0415

        watched = parsed(statement)
        if isinstance(watched, WatchQuery):
            self._watch(watched)
            return
        answer = self._console.run(statement, self._rows)
        if answer.names:
            print(rendered(answer.names, answer.rows, self._form))
        note = answer.note
        if answer.is_cut:
            note = f"these are the first {self._rows} rows: --rows says how many"
        if note:
            print(note, file=sys.stderr)
        sys.stdout.flush()

    def _watch(self, watched: "WatchQuery") -> None:
        from moldau.streams.sql.output import rendered  # noqa: PLC0415 - takes long

        is_first = True

        def show(names: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
            nonlocal is_first
            lines = rendered(names, rows, self._form).split("\n")
            heading = {"table": 2, "csv": 1}.get(self._form, 0)
            print("\n".join(lines if is_first else lines[heading:]), flush=True)
            is_first = False

        start = "earliest" if "from-beginning" in self._given else "latest"
        self._console.watch(watched, start, show, self.stop)

    def _accompany(self) -> int:
        """Wait for streams; the code is 1 if one of them failed."""
        streams = self._console.streams
        try:
            while not (streams.all_ended() or streams.failures() or self.stop.wait(_POLL_S)):
                pass
        except KeyboardInterrupt:
            pass
        failures = streams.failures()
        if failures:
            raise CommandFailed("\n".join(failures))
        return 0


def _begun(given: Given) -> "tuple[SqlConsole, Callable[[], None]]":
    """A console on a session that begins here, and what ends both."""
    from moldau.streams.run.clients import ApplicationOptions  # noqa: PLC0415 - takes long
    from moldau.streams.run.session import started_session  # noqa: PLC0415
    from moldau.streams.sql.console import SqlConsole  # noqa: PLC0415
    from moldau.streams.sql.stream_queries import StreamTarget  # noqa: PLC0415
    from moldau.streams.sql.topic_tables import TopicTables  # noqa: PLC0415

    options = ApplicationOptions(given.text("bootstrap-server"), clients(given))
    url = given.text("schema-registry")
    registry = address_with_login(url, "--schema-registry") if url else ""
    shape_of = _shapes(registry, options)
    checkpoint = given.text("checkpoint", _CHECKPOINT)
    spark = started_session(
        _APPLICATION, checkpoint, given.text("master"), pairs(given.texts("conf"))
    )
    trigger: dict[str, object] = {"availableNow": True} if "available-now" in given else {}
    tables = TopicTables(options.source, shape_of, registry)
    console = SqlConsole(
        spark, tables, StreamTarget(options.sink, options.admin, checkpoint, trigger)
    )

    def end() -> None:
        console.streams.stop_all()
        spark.stop()

    return console, end


def _shapes(registry: str, options: "ApplicationOptions") -> "Callable[[str], TopicShape]":
    """The shape of a topic: as a registry has it, or as some of its records are."""
    from moldau.client.registry import Registry, RegistryError  # noqa: PLC0415 - takes long
    from moldau.streams.sql.registered import RegisteredShapes  # noqa: PLC0415
    from moldau.streams.sql.sampling import sampled  # noqa: PLC0415
    from moldau.streams.sql.shapes import shape_of  # noqa: PLC0415

    registered = RegisteredShapes(Registry(registry), described_proto) if registry else None

    def find(topic: str) -> "TopicShape":
        try:
            found = None if registered is None else registered.find(topic)
        except RegistryError as error:
            raise CommandFailed(str(error)) from error
        records = sampled(options.view, topic)
        seen = shape_of([each.value for each in records], [each.key for each in records])
        return seen if found is None else found.with_key(seen.key)

    return find


def described_proto(text: str) -> tuple[bytes, str]:
    """The descriptors of a `.proto`, and the full name of its first message."""
    try:
        from moldau.registry.schemas.proto_files import descriptor_set  # noqa: PLC0415
    except ModuleNotFoundError as error:
        raise CommandFailed(f"{error.name} is missing: pip install 'moldau[registry]'") from error
    return descriptor_set(text)


def _typed(prompt: str) -> str | None:
    """The next line; None at the end."""
    import readline  # noqa: F401, PLC0415 - arrows and history, by being imported

    try:
        return input(prompt)
    except EOFError:
        print()
        return None
