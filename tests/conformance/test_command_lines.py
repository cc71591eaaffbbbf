"""Command lines of Apache and ours on the same brokers and files."""

import json
import re
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from functools import partial
from itertools import product
from pathlib import Path

import pytest

from conformance.apache.broker import ApacheBroker, apache_broker, free_port
from conformance.apache.marks import needs_apache
from conformance.apache.tools import ApacheTools, Ended
from conformance.our_broker import OurBroker, our_broker
from moldau.client.blocking import Producer
from moldau.records.compression import Codec
from moldau.records.legacy import write_message_set
from moldau.records.record import Record
from moldau.testing.broker import running_broker
from unit.cli.command import run
from unit.cli.test_main_transcripts import SETTINGS
from unit.cli.transcript import TRANSCRIPTS, compare, compare_in_time, play, read_transcript

pytestmark = needs_apache("kafka-3.9")

MESSAGE_CODECS = (Codec.NONE, Codec.GZIP, Codec.SNAPPY, Codec.LZ4)
PATHS = sorted(TRANSCRIPTS.glob("*.txt"))


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_apaches_tools_print_the_same_with_our_broker(
    path: Path, tools: ApacheTools, tmp_path: Path
) -> None:
    def run_theirs(program: str, *arguments: str, stdin: str) -> Ended:
        ended = tools.run(program, *arguments, stdin=stdin)
        # Our broker knows a request of newer brokers, by which the tool finds empty lists.
        stdout = ended.stdout.replace("Elr: \tLastKnownElr: ", "Elr: N/A\tLastKnownElr: N/A")
        return ended._replace(stdout=stdout)

    with running_broker(SETTINGS) as broker:
        played = play(read_transcript(path), broker.bootstrap_servers, tmp_path, run_theirs)
        for step, ended in played:
            compare(step, ended)


def _turn(path: Path) -> int:
    """Brokers number producers from the start, keep settings, and have internal topics later."""
    late = ("transactions", "", "configs", "consumer-groups")
    return late.index(path.stem) if path.stem in late else 1


def test_ours_print_the_same_with_apaches_broker(tmp_path: Path) -> None:
    with apache_broker(tmp_path) as broker:
        broker.start()
        where = ("--bootstrap-server", broker.bootstrap)
        for path in sorted(PATHS, key=_turn):
            for step, done in play(read_transcript(path), broker.bootstrap, tmp_path, run):
                program, arguments = step.arguments(broker.bootstrap, tmp_path)
                compare_in_time(step, done, partial(run, program, *arguments, stdin=step.input))
            run("topics", *where, "--delete", "--topic", "[^_].*", "--if-exists")
            look = ("zookeeper-shell", f"127.0.0.1:{broker.zookeeper_port}")
            deadline = time.monotonic() + 60
            while not run(*look, "ls", "/admin/delete_topics").stdout.endswith("[]\n"):
                assert time.monotonic() < deadline, "topics are not deleted"


def write_log(bootstrap: str) -> None:
    """Batches of all codecs, headers, and transactions of which one is aborted."""
    for codec in ("none", "gzip", "snappy", "lz4", "zstd"):
        with Producer[str, str](bootstrap_servers=bootstrap, compression_type=codec) as producer:
            for number in range(40):
                producer.send("t", f"{codec} é {number}", key=f"k{number}", headers=[("h", b"1")])
                if number % 10 == 9:
                    producer.flush()
    with Producer[str, str](bootstrap_servers=bootstrap, transactional_id="x") as producer:
        with producer.transaction():
            producer.send("t", "kept")
        producer.begin_transaction()
        producer.send("t", "lost").result()
        producer.abort_transaction()
    run("console-producer", f"--bootstrap-server={bootstrap}", "--topic", "t", stdin="last\n")
    reading = ("--topic", "t", "--group", "g", "--from-beginning", "--max-messages", "9")
    run("console-consumer", f"--bootstrap-server={bootstrap}", *reading)


def test_files_are_dumped_byte_for_byte_as_apache_does(tools: ApacheTools, tmp_path: Path) -> None:
    small = {
        "offsets.topic.num.partitions": "1",
        "transaction.state.log.num.partitions": "1",
        "log.index.interval.bytes": "200",
        "log.segment.bytes": "3000",
    }
    with our_broker(tmp_path, small) as broker:
        write_log(broker.bootstrap)
        directory = broker.log_directory
        broker.stop()
    segment = directory / "t-0" / "00000000000000000000.log"
    segment.write_bytes(segment.read_bytes() + segment.read_bytes()[:70])  # half a batch
    compared: dict[str, int] = {}
    for topic, options in {
        "t-0": ("--print-data-log",),
        "__consumer_offsets-0": ("--offsets-decoder",),
        "__transaction_state-0": ("--transaction-log-decoder", "--deep-iteration"),
    }.items():
        for path in sorted((directory / topic).glob("0*")):
            for more in ((), ("--index-sanity-check",)):
                arguments = ("--files", str(path), *options, *more)
                theirs = tools.run("kafka-dump-log.sh", *arguments)
                ours = run("dump-log", *arguments)
                assert (ours.stdout, ours.code) == (theirs.stdout, theirs.code), path
                assert ours.stderr == theirs.stderr, path
            compared[path.suffix] = compared.get(path.suffix, 0) + 1
    assert set(compared) == {".log", ".index", ".timeindex", ".txnindex", ".snapshot"}, compared


def test_messages_from_before_there_were_batches_are_dumped_as_apache_does(
    tools: ApacheTools, tmp_path: Path
) -> None:
    segment = tmp_path / "t-0" / "00000000000000000000.log"
    segment.parent.mkdir()
    with segment.open("wb") as file:
        for number, (magic, codec) in enumerate(product((0, 1), MESSAGE_CODECS)):
            records = [
                Record(3 * number, 1_700_000 + number, b"k", b"v"),
                Record(3 * number + 1, 1_700_000, None, b"v"),
                Record(3 * number + 2, 1_700_001, b"k", None),
            ]
            is_stamped = codec is Codec.LZ4
            file.write(
                write_message_set(records, magic=magic, codec=codec, is_log_append_time=is_stamped)
            )
    for options in ((), ("--print-data-log",), ("--deep-iteration", "--skip-record-metadata")):
        arguments = ("--files", str(segment), *options)
        theirs = tools.run("kafka-dump-log.sh", *arguments)
        ours = run("dump-log", *arguments)
        assert tuple(ours) == tuple(theirs)


def test_lines_pass_between_their_console_clients_and_ours(
    tools: ApacheTools, tmp_path: Path
) -> None:
    lines = "".join(f"h:{number}\tkey {number}\tline é {number}\n" for number in range(300))
    parse = ("--property", "parse.key=true", "--property", "parse.headers=true")
    show = [("--property", f"print.{part}=true") for part in ("key", "headers", "timestamp")]
    shown = [word for pair in show for word in pair]
    with our_broker(tmp_path) as broker:
        where = ("--bootstrap-server", broker.bootstrap)
        read = (*where, "--partition", "0", "--offset", "earliest", "--max-messages", "300")
        for topic in ("theirs", "ours"):
            if topic == "theirs":
                tools.run(
                    "kafka-console-producer.sh", *where, "--topic", topic, *parse, stdin=lines
                )
            else:
                run("console-producer", *where, "--topic", topic, *parse, stdin=lines)
            by_theirs = tools.run("kafka-console-consumer.sh", *read, "--topic", topic, *shown)
            by_ours = run("console-consumer", *read, "--topic", topic, *shown)
            assert by_ours.stdout == by_theirs.stdout
            values = [line.split("\t", 1)[1] for line in by_ours.stdout.splitlines()]
            assert values == lines.splitlines()


RECORDS = "--topic p --num-records 500 --record-size 100 --throughput -1"
MEASURED = (
    "kafka-broker-api-versions.sh --bootstrap-server {}",
    f"kafka-producer-perf-test.sh {RECORDS} --producer-props bootstrap.servers={{}}",
    "kafka-consumer-perf-test.sh --topic p --messages 500 --timeout 60000 --bootstrap-server {}",
    "kafka-log-dirs.sh --describe --topic-list p --bootstrap-server {}",
)


def test_measurements_have_apaches_layout(tools: ApacheTools, tmp_path: Path) -> None:
    with our_broker(tmp_path, {"group.initial.rebalance.delay.ms": "0"}) as broker:
        for line in MEASURED:
            script, *arguments = line.format(broker.bootstrap).split()
            theirs, ours = tools.run(script, *arguments), run(script, *arguments)
            assert (ours.code, theirs.code) == (0, 0), ours.stderr + theirs.stderr
            assert _shape(ours.stdout) == _shape(theirs.stdout), script


def _shape(text: str) -> list[str]:
    """What is the same each time: all but figures, and APIs that only Apache's tool knows."""
    lines = [line.rstrip(",") for line in text.splitlines() if "UNSUPPORTED" not in line]
    return [re.sub(r"\d+(\.\d+)?", "N", line) for line in lines]


KCAT_OPTIONS = (
    ("-C", "-e", "-q", "-f", r"%T %k: %s\n"),
    ("-C", "-e", "-q", "-f", r"%t %p %o %K %S %h [%s] %% \x41\t\n"),
    ("-C", "-e", "-q", "-o", "-2", "-K:"),
    ("-C", "-e", "-q", "-o", "2", "-Z"),
    ("-C", "-q", "-o", "beginning", "-c", "2", "-D", "||"),
    ("-C", "-e", "-q", "-J"),
    ("-C", "-e", "-q", "-O", "-K", r"\t", "-D", r"\x3b"),
    ("-C", "-q", "-c", "1", "-s", "value=bc", "-s", "key=Bs$"),
    ("-L", "-J"),
    ("-C", "-e", "-o", "end"),
    ("-L",),
)


@pytest.mark.needs("kcat")
def test_cat_prints_what_kcat_prints(tmp_path: Path) -> None:
    with our_broker(tmp_path) as broker:
        where = ("-b", broker.bootstrap, "-t", "t")
        keys = ("-P", "-p", "0", "-K", "|", "-Z", "-H", "a=1", "-H", "b=2")
        done = run("cat", *where, *keys, stdin="k1|v1\nk2|\n|v3\nplain\n")
        assert done.code == 0
        for options in KCAT_OPTIONS:
            theirs = subprocess.run(
                ["kcat", *where, *options],
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                check=True,
            )
            ours = run("cat", *where, *options)
            # kcat may not know yet whom it has asked.
            expected = re.sub(
                "from broker -1: (.*)/bootstrap", r"from broker 0: \1/0", theirs.stdout
            )
            if options == ("-L", "-J"):
                expected += "\n"  # which kcat forgets
            assert (ours.code, ours.stdout) == (0, expected), options
            ends = [line for line in theirs.stderr.splitlines() if line.startswith("% ")]
            assert ours.stderr.splitlines() == ends, options


AUTHORIZER = {
    "authorizer.class.name": "kafka.security.authorizer.AclAuthorizer",
    "super.users": "User:ANONYMOUS",
}
LOGIN = {
    "sasl.enabled.mechanisms": "PLAIN",
    "listener.name.sasl_plaintext.plain.sasl.jaas.config": (
        'org.apache.kafka.common.security.plain.PlainLoginModule required user_al="x";'
    ),
    "delegation.token.master.key": "k",
}
ACL_COMMANDS = (
    "--add --allow-principal User:bob --operation read --operation Write --topic orders",
    "--add --deny-principal User:eve --deny-host h --topic ord --resource-pattern-type prefixed",
    "--add --allow-principal User:carol --producer --topic orders",
    "--add --allow-principal User:carol --consumer --topic orders --group shop",
    "--list",
    "--list --topic orders",
    "--list --topic orders --resource-pattern-type match",
    "--list --principal User:bob",
    "--remove --allow-principal User:bob --operation read --topic orders --force",
    "--remove --group shop --force",
    "--list",
)


PASSWORDS = "SCRAM-SHA-256=[iterations=8192,password=x],SCRAM-SHA-512=[password=y]"
PASSWORD_COMMANDS = (
    f"--alter --entity-type users --entity-name al --add-config {PASSWORDS}",
    "--describe --entity-type users --entity-name al",
    "--describe --entity-type users",
    "--alter --entity-type users --entity-name al --delete-config SCRAM-SHA-512",
    "--describe --entity-type users --entity-name al",
    "--alter --entity-type users --entity-name al --delete-config SCRAM-SHA-256",
)


@pytest.fixture(scope="module", params=["Apache", "ours"])
def guarded_listeners(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[str, str]]:
    """A broker with access rules and tokens: where it is, and where one logs in."""
    place, where_login = tmp_path_factory.mktemp("guarded"), f"127.0.0.1:{free_port()}"
    with ExitStack() as stack:
        broker: ApacheBroker | OurBroker
        if request.param == "ours":
            broker = OurBroker(place)
        else:
            broker = stack.enter_context(apache_broker(place))
        listeners = f"PLAINTEXT://{broker.bootstrap},SASL_PLAINTEXT://{where_login}"
        broker.settings = {**AUTHORIZER, **LOGIN, "listeners": listeners}
        broker.start()
        stack.callback(broker.kill)
        yield broker.bootstrap, where_login


@pytest.fixture(scope="module")
def guarded(guarded_listeners: tuple[str, str]) -> str:
    return guarded_listeners[0]


def run_both(
    tools: ApacheTools, script: str, bootstrap: str, commands: Sequence[str]
) -> Iterator[str]:
    """Run all commands with their tool, then with ours; yields in between, compares at the end."""
    runs = []
    for run_tool in (tools.run, run):
        words = [["--bootstrap-server", bootstrap, *line.split()] for line in commands]
        runs.append([run_tool(script, *each) for each in words])
        yield script
    for line, expected, found in zip(commands, *runs, strict=True):
        assert found.code == expected.code == 0, line
        assert _rows(found.stdout) == _rows(expected.stdout), line


def test_access_rules_are_shown_added_and_removed_as_apaches_tool_does(
    tools: ApacheTools, guarded: str
) -> None:
    for script in run_both(tools, "kafka-acls.sh", guarded, ACL_COMMANDS):
        for line in ("--topic orders", "--topic ord --resource-pattern-type prefixed"):
            options = ("--bootstrap-server", guarded, "--remove", "--force", *line.split())
            assert run(script, *options).code == 0


def test_passwords_are_set_and_shown_as_apaches_tool_does(tools: ApacheTools, guarded: str) -> None:
    for _ in run_both(tools, "kafka-configs.sh", guarded, PASSWORD_COMMANDS):
        pass
    users = ("configs", "--bootstrap-server", guarded, "--entity-type", "users")
    assert run(*users, "--entity-name", "al", "--alter", "--add-config", PASSWORDS).code == 0
    listed = json.loads(run(*users, "--describe", "--format", "json").stdout)
    scram = {"SCRAM-SHA-256": {"iterations": 8192}, "SCRAM-SHA-512": {"iterations": 4096}}
    assert listed == [{"entity": {"user": "al"}, "scram": scram}]


RENEWERS = "--renewer-principal User:a --renewer-principal User:b"
TOKEN_COMMANDS = (
    "--describe",
    f"--create --max-life-time-period -1 {RENEWERS}",
    "--create --max-life-time-period 90000000",
    "--describe --owner-principal User:al",
    "--renew --renew-time-period 70000000 --hmac {hmac}",
    "--expire --expiry-time-period 80000000 --hmac {hmac}",
    "--expire --expiry-time-period -1 --hmac {hmac}",
)


def test_tokens_are_shown_made_renewed_and_ended_as_apaches_tool_does(
    tools: ApacheTools, guarded_listeners: tuple[str, str], tmp_path: Path
) -> None:
    file = tmp_path / "client.properties"
    module = "org.apache.kafka.common.security.plain.PlainLoginModule"
    file.write_text(
        "security.protocol=SASL_PLAINTEXT\nsasl.mechanism=PLAIN\n"
        f'sasl.jaas.config={module} required username="al" password="x";\n'
    )
    where = ("--bootstrap-server", guarded_listeners[1], "--command-config", str(file))
    printed: list[list[str]] = []
    for run_tool in (tools.run, run):
        texts: list[str] = []
        made: list[str] = []
        for line in TOKEN_COMMANDS:
            options = line.format(hmac=made[0] if made else "").split()
            done = run_tool("kafka-delegation-tokens.sh", *where, *options)
            assert done.code == 0, done.stderr
            made += re.findall(r"[\w+/]{86}==", done.stdout)
            text = re.sub(r"[\w-]{22}(?!\w)", "ID", re.sub(r"[\w+/]{86}==", "HMAC", done.stdout))
            text = re.sub(r"\d{4}-\d\d-\d\dT\d\d:\d\d", "DATE", text).rstrip("\n")
            head, *rows = text.split("\n\n")
            texts.append("\n\n".join([head, *sorted(rows)]))
        expire = ("--expire", "--expiry-time-period", "-1", "--hmac", made[1])
        assert run("delegation-tokens", *where, *expire).code == 0
        printed.append(texts)
    assert printed[1] == printed[0]


def _rows(text: str) -> list[str]:
    return sorted(line.strip() for line in text.splitlines())
