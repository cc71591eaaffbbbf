"""The pages of the Python API: every public class and function, from its docstring."""

import ast
import textwrap
from collections.abc import Iterator
from typing import NamedTuple

from definitions import Definition, Found, exported, find, members, text_below


class Page(NamedTuple):
    """One page: what it is about, and its names by the module that they are imported from."""

    about: str
    names: dict[str, str]


ALL = ""  # what a package exports

PAGES: dict[str, Page] = {
    "moldau": Page("Clients with asyncio, and topics as Arrow tables.", {"moldau": ALL}),
    "moldau.client.blocking": Page(
        "The same clients without asyncio.", {"moldau.client.blocking": ALL}
    ),
    "moldau.client": Page(
        "What producers and consumers take and return; [settings](../client-settings.md) apart.",
        {
            "moldau.model": "TopicPartition",
            "moldau.client.record": "ConsumerRecord RecordMetadata OffsetAndTimestamp",
            "moldau.client.producer": "Receipt",
            "moldau.client.partitioner": "RoundRobinPartitioner partition_of_key",
            "moldau.client.offset_lookup": "EARLIEST LATEST",
            "moldau.client.metrics": "Latencies Reporter",
            "moldau.client.telemetry": "carry context_of",
            "moldau.client.truncation": "LogTruncated",
        },
    ),
    "moldau.client.admin": Page(
        "What admin clients take and return.",
        {
            "moldau.client.admin.outcomes": "Outcomes",
            "moldau.client.admin.topics": (
                "NewTopic NewPartitions CreatedTopic TopicListing TopicDescription"
                " PartitionDescription"
            ),
            "moldau.client.admin.configs": (
                "ConfigResource ConfigKind ConfigEntry ConfigSource ConfigSynonym ConfigChange"
                " ConfigOperation"
            ),
            "moldau.client.admin.description": (
                "ClusterDescription BrokerDescription Features FeatureUpdateType"
            ),
            "moldau.client.admin.groups": (
                "GroupListing GroupDescription MemberDescription LeavingMember"
            ),
            "moldau.client.admin.group_offsets": "CommittedOffset",
            "moldau.client.admin.reassignments": "Reassignment ElectionType",
            "moldau.client.admin.log_dirs": "LogDir Replica StoredReplica",
            "moldau.client.admin.transactions": (
                "TransactionListing TransactionDescription ProducerState OpenTransaction"
                " FencedProducer"
            ),
            "moldau.client.admin.users": "ScramCredential ScramPassword ScramDeletion",
            "moldau.client.admin.quotas": "QuotaFilter QuotaMatch",
            "moldau.client.admin.tokens": "DelegationToken",
            "moldau.client.admin.examination": "examine",
            "moldau.client.admin.finding": "Finding",
            "moldau.security.acls": (
                "Acl AclFilter AclPattern ResourceType PatternType Operation Permission"
            ),
        },
    ),
    "moldau.client.serdes": Page(
        "Keys and values: bytes to Python's objects and back.",
        {
            "moldau.client.serdes.plain": (
                "PlainSerde STRING LONG INTEGER SHORT DOUBLE FLOAT BOOLEAN UUID BYTES"
            ),
            "moldau.client.serdes.json_serde": "JsonSerde JSON",
            "moldau.client.serdes.avro": "AvroSerde",
            "moldau.client.serdes.protobuf": "ProtobufSerde",
            "moldau.client.serdes.registered": "RegisteredValues",
            "moldau.client.registry": (
                "Registry RegistryAccess RegistryError Schema Reference SubjectName"
            ),
        },
    ),
    "moldau.client.arrow": Page(
        "Values as typed columns.",
        {
            "moldau.client.arrow.formats": "ValueFormat typed struct_of",
            "moldau.client.arrow.json_values": "Json",
            "moldau.client.arrow.avro_values": "Avro",
            "moldau.client.arrow.protobuf_values": "Protobuf",
        },
    ),
    "moldau.errors": Page(
        "The families of errors. [Errors](../errors.md) has a class for each code.",
        {
            "moldau.errors": (
                "KafkaError RetriableError StaleMetadataError AuthorizationFailed"
                " AuthenticationFailed ErrorCode ProtocolError"
            )
        },
    ),
    "moldau.config": Page("Properties files.", {"moldau.config.properties": "decode_properties"}),
    "moldau.testing": Page(
        "Brokers in the process of a test.",
        {
            "moldau.testing.plugin": "kafka kafka_settings",
            "moldau.testing.broker": (
                "EmbeddedBroker running_broker BrokerNotStarted BrokerStopped"
            ),
            "moldau.testing.cluster": "running_cluster RunningCluster ClusterBroker",
            "moldau.testing.control": "Controls Fail Delay Drop Lose Respond Call",
        },
    ),
    "moldau.spark": Page(
        "Topics as source and sink of PySpark.",
        {"moldau.spark": ALL, "moldau.spark.java": "use_java JavaMissing"},
    ),
    "moldau.streams": Page(
        "Topologies in the words of Kafka Streams, on Spark.",
        {
            "moldau.streams": ALL,
            "moldau.streams.grouped": "Grouped KGroupedStream KGroupedTable",
            "moldau.streams.processors": "Store Time",
            "moldau.streams.queries": "TableServer TableView",
            "moldau.streams.testing.driver": "TestDriver OutputRecord",
            "moldau.streams.testing.processors": "ProcessorDriver",
        },
    ),
    "moldau.connect": Page(
        "Connectors of your own.",
        {
            "moldau.connect": ALL,
            "moldau.connect.data.record": "ConnectRecord",
            "moldau.connect.data.schema": (
                "Schema Field Kind struct array map_of optional decimal STRING BYTES BOOLEAN"
                " INT8 INT16 INT32 INT64 FLOAT32 FLOAT64"
            ),
            "moldau.connect.data.arrow": "table_of records_of table_of_records schema_of",
            "moldau.connect.config.definition": "PluginSetting one_of at_least",
            "moldau.connect.errors": (
                "ConnectError DataError SchemaError RetriableConnectError ConfigError"
            ),
            "moldau.connect.testing": "read write Read",
        },
    ),
}
_LINE = 90


def pages() -> dict[str, str]:
    """All of them, by the name of the file."""
    return {
        f"api-{name.replace('.', '-')}.md": interface_page(name, page)
        for name, page in PAGES.items()
    }


def interface_page(title: str, page: Page) -> str:
    """The public classes, functions and constants of some modules."""
    lines = [f"# {title}", "", page.about, ""]
    constants: dict[str, list[str]] = {}
    for module, name in named(page):
        found = find(module, name)
        if found is None:
            raise ValueError(f"{module} has no {name}")
        if isinstance(found.node, Definition):
            lines += described(found.node, found, module)
        else:
            constants.setdefault(module, []).append(_constant(found.node, text_below(found)))
    if constants:
        lines += ["## Constants", ""]
        for module, values in constants.items():
            lines += [f"In `{module}`:", "", "```python", *values, "```", ""]
    return "\n".join(lines)


def named(page: Page) -> Iterator[tuple[str, str]]:
    """Module and name of everything on a page."""
    for module, names in page.names.items():
        for name in names.split() or exported(module):
            yield module, name


def described(node: Definition, found: Found, module: str) -> Iterator[str]:
    """A class or function; a class without a docstring says all by its own name."""
    about = ast.get_docstring(node)
    if about is None:
        return
    yield from (f"## {node.name}", "", f"`from {module} import {node.name}`", "")
    yield from ("```python", signature(node), *_fields(node), "```", "", about, "")
    for part in members(found):
        said = ast.get_docstring(part)
        if said is not None and not _is_overload(part):
            yield from (f"### {node.name}.{part.name}", "", "```python", signature(part), "```")
            yield from ("", said, "")


def _constant(node: ast.stmt, text: str | None) -> str:
    return ast.unparse(node) + (f"  # {text}" if text else "")


def _fields(node: Definition) -> Iterator[str]:
    """The attributes of a class that are declared in it, with what is said of them."""
    if not isinstance(node, ast.ClassDef):
        return
    following = [*node.body[1:], None]
    for part, after in zip(node.body, following, strict=True):
        match part:
            case ast.AnnAssign(ast.Name(name)) if not name.startswith("_"):
                yield textwrap.indent(ast.unparse(part), "    ")
            case ast.Assign([ast.Name(name)]) if name.isupper():
                yield textwrap.indent(ast.unparse(part), "    ")
            case ast.FunctionDef(name="__init__"):
                yield textwrap.indent(signature(part), "    ")
            case _:
                continue
        match after:
            case ast.Expr(ast.Constant(str(text))):
                comment = " ".join(text.split())
                yield from textwrap.wrap(
                    comment, _LINE, initial_indent="    # ", subsequent_indent="    # "
                )


def signature(node: Definition) -> str:
    """The line that begins its definition, on several lines if it is long."""
    if isinstance(node, ast.ClassDef):
        bases = ", ".join(map(ast.unparse, node.bases))
        is_short = len(bases) + len(node.name) < _LINE
        return f"class {node.name}({bases}):" if bases and is_short else f"class {node.name}:"
    start = "async def" if isinstance(node, ast.AsyncFunctionDef) else "def"
    decorators = "".join(f"@{ast.unparse(each)}\n" for each in node.decorator_list)
    result = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    line = f"{start} {node.name}({ast.unparse(node.args)}){result}"
    if len(line) > _LINE:
        parts = ",\n    ".join(_arguments(node.args))
        line = f"{start} {node.name}(\n    {parts},\n){result}"
    return decorators + line


def _arguments(arguments: ast.arguments) -> Iterator[str]:
    text = ast.unparse(arguments)
    depth = start = 0
    for place, letter in enumerate(text):
        depth += (letter in "([{") - (letter in ")]}")
        if letter == "," and depth == 0:
            yield text[start:place].strip()
            start = place + 1
    yield text[start:].strip()


def _is_overload(node: Definition) -> bool:
    return any("overload" in ast.unparse(each) for each in node.decorator_list)
