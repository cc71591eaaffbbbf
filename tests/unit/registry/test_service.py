"""Several registries of one topic give each id once, and lose none that was answered."""

import asyncio
import json
from concurrent.futures import ThreadPoolExecutor

from moldau.client.producer.producer import Producer
from moldau.registry.decisions import Decisions
from moldau.registry.records import encode
from moldau.testing.broker import EmbeddedBroker, running_broker
from unit.registry.started import KAFKA, StartedRegistry, started_registry


def fixed(name: str) -> dict[str, str]:
    return {"schema": json.dumps({"type": "fixed", "name": name, "size": 1})}


def test_a_follower_forwards_writes_and_has_read_them_when_it_answers(
    broker: EmbeddedBroker,
) -> None:
    with (
        started_registry(broker.bootstrap_servers, topic="two") as one,
        started_registry(broker.bootstrap_servers, topic="two") as other,
    ):
        assert one.ask("POST", "/subjects/a/versions", fixed("A")) == (200, {"id": 1})
        for number in range(2, 6):
            path = f"/subjects/s{number}/versions"
            assert other.ask("POST", path, fixed(f"S{number}")) == (200, {"id": number})
            assert other.ask("GET", f"/schemas/ids/{number}").status == 200
        assert [one.service.is_leader, other.service.is_leader].count(True) == 1
        refused = other.ask("POST", "/subjects/a/versions", {"schema": "nonsense"})
        assert refused.body["error_code"] == 42201


def test_writers_at_once_get_an_id_each(broker: EmbeddedBroker) -> None:
    with (
        started_registry(broker.bootstrap_servers, topic="race") as one,
        started_registry(broker.bootstrap_servers, topic="race") as other,
        ThreadPoolExecutor(8) as pool,
    ):

        def register(number: int) -> int:
            asked = (one, other)[number % 2]
            # Half of them send the same schema to several subjects.
            name = f"S{number // 4}"
            found: int = asked.ask("POST", f"/subjects/s{number}/versions", fixed(name)).body["id"]
            return found

        ids = list(pool.map(register, range(40)))
        assert sorted(set(ids)) == list(range(1, 11))
        assert all(len(set(ids[at : at + 4])) == 1 for at in range(0, 40, 4))


def test_what_was_answered_is_there_after_a_restart_and_ids_go_on(broker: EmbeddedBroker) -> None:
    with started_registry(broker.bootstrap_servers, topic="again") as registry:
        for number in range(3):
            registry.ask("POST", f"/subjects/s{number}/versions", fixed(f"S{number}"))
        registry.ask("DELETE", "/subjects/s2")
        registry.ask("DELETE", "/subjects/s2?permanent=true")
        registry.ask("PUT", "/config/s0", {"compatibility": "FULL"})
    with started_registry(broker.bootstrap_servers, topic="again") as registry:
        assert registry.ask("GET", "/subjects").body == ["s0", "s1"]
        assert registry.ask("GET", "/config/s0").body == {"compatibilityLevel": "FULL"}
        assert registry.ask("POST", "/subjects/s3/versions", fixed("S3")).body == {"id": 4}


def test_a_topic_of_confluents_is_taken_over_and_given_back(broker: EmbeddedBroker) -> None:
    key = b'{"keytype":"SCHEMA","subject":"theirs","version":1,"magic":1}'
    value = (
        b'{"subject":"theirs","version":1,"id":100001,"md5":"q==","schema":"\\"int\\"",'
        b'"deleted":false}'
    )
    noop = b'{"keytype":"NOOP","magic":0}'

    async def write() -> None:
        async with Producer({"bootstrap.servers": broker.bootstrap_servers}) as producer:
            await producer.send("theirs", None, key=noop, partition=0)
            await producer.send_and_wait("theirs", value, key=key, partition=0)

    with started_registry(broker.bootstrap_servers, topic="theirs"):
        pass
    asyncio.run(write())
    with started_registry(broker.bootstrap_servers, topic="theirs") as registry:
        assert registry.ask("GET", "/schemas/ids/100001").body == {"schema": '"int"'}
        assert registry.ask("POST", "/subjects/ours/versions", fixed("O")).body == {"id": 100002}
        assert registry.ask("DELETE", "/subjects/theirs/versions/1").body == 1
    records = broker.wait_for_records("theirs", 5)[0]
    rewritten = [each.value for each in records if each.key == key][-1]
    assert rewritten == value.replace(b'"deleted":false', b'"deleted":true')


def test_a_broker_that_goes_away_for_a_while_is_waited_for() -> None:
    with running_broker(KAFKA) as kafka, started_registry(kafka.bootstrap_servers) as registry:
        assert registry.ask("POST", "/subjects/a/versions", fixed("A")) == (200, {"id": 1})
        kafka.stop()
        assert registry.ask("GET", "/schemas/ids/1").status == 200
        kafka.start()
        answers = [registry.ask("POST", "/subjects/b/versions", fixed("B")) for _ in range(3)]
        assert answers[-1] == (200, {"id": 2})


def test_a_large_schema_does_not_hold_up_others(registry: StartedRegistry) -> None:
    fields = [{"name": f"f{n}", "type": "int", "default": 0} for n in range(5000)]
    large = {"schema": json.dumps({"type": "record", "name": "L", "fields": fields})}
    assert registry.ask("POST", "/subjects/large/versions", large).status == 200
    assert registry.ask("POST", "/subjects/large", large).status == 200

    def look(state: Decisions) -> int:
        return len(encode_all(state))

    assert registry.call(registry.service.ask(look, 10**6)) > 0


def test_schemas_that_are_meant_to_harm_are_refused_and_it_goes_on(
    registry: StartedRegistry,
) -> None:
    huge = json.dumps({"type": "record", "name": "H", "doc": "x" * 5_000_000, "fields": []})
    deep = '{"type":"array","items":' * 10_000 + '"int"' + "}" * 10_000
    nested = "message A {" * 10_000 + "}" * 10_000
    # A schema that refers to the version that it would become.
    itself = {"name": "C", "subject": "circle", "version": 1}
    circle = {"schema": '{"type":"array","items":"C"}', "references": [itself]}
    refused = [
        ({"schema": huge}, 42209),
        ({"schema": deep}, 42201),
        ({"schema": deep, "schemaType": "JSON"}, 42201),
        ({"schema": nested, "schemaType": "PROTOBUF"}, 42201),
        (circle, 42201),
    ]
    for body, code in refused:
        answer = registry.ask("POST", "/subjects/circle/versions", body)
        assert answer.body["error_code"] == code
        answer = registry.ask("POST", "/compatibility/subjects/circle/versions", body)
        assert answer.body["error_code"] == code
    assert registry.ask("GET", "/schemas/types").status == 200


def encode_all(state: Decisions) -> list[object]:
    from moldau.registry.records import SchemaRecord

    return [
        encode(SchemaRecord(each.subject, each.version, each))
        for name in state.subjects.names()
        for each in state.subjects.of(name)
    ]
