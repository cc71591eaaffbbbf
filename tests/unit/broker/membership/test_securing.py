"""TLS in front of a broker: clients with certificates are whom these name."""

import ssl
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import pytest

from certificates import Identity, authority, identity
from moldau import Admin, Consumer, Producer
from moldau.broker.context import Client
from moldau.broker.dispatch import Dispatcher
from moldau.broker.main import Ports, RunningBroker, running
from moldau.broker.membership.channels import Channels
from moldau.broker.membership.securing import mapping_of, principal_of
from moldau.client.admin.topics import NewTopic
from moldau.config.broker.startup import read_startup
from moldau.coordination.memory import MemoryEnsemble, MemoryTree
from moldau.errors import ErrorCode, InvalidConfig, KafkaError
from moldau.model import TopicPartition
from moldau.net.channel import ChannelLimits
from moldau.protocol.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse
from moldau.runtime.clock import SystemClock
from moldau.security.acls import Acl, Operation, ResourceType
from moldau.security.principal_mapping import read_mapping
from unit.broker.login.secured import PLAIN

CA = authority()
BROKER, ANNA, BOB = (identity(CA, name) for name in ("broker", "anna", "bob"))


def settings_of(directory: Path, **others: str) -> dict[str, str]:
    return {
        "listeners": "SSL://127.0.0.1:0",
        "security.inter.broker.protocol": "SSL",
        "log.dirs": str(directory),
        "ssl.keystore.location": BROKER.write(directory.with_suffix(".pem")),
        "ssl.keystore.type": "PEM",
        "ssl.truststore.certificates": CA.certificate_pem,
        "ssl.truststore.type": "PEM",
        "ssl.client.auth": "required",
        **{name.replace("_", "."): value for name, value in others.items()},
    }


@asynccontextmanager
async def secure_broker(directory: Path, **others: str) -> AsyncIterator[RunningBroker]:
    async with running(read_startup(settings_of(directory, **others)), Ports()) as started:
        yield started


def client_of(broker: RunningBroker, own: Identity, **others: object) -> dict[str, object]:
    return {
        "bootstrap.servers": f"127.0.0.1:{broker.ports['SSL']}",
        "security.protocol": "SSL",
        "ssl.truststore.certificates": CA.certificate_pem,
        "ssl.keystore.key": own.key_pem(),
        "ssl.keystore.certificate.chain": own.certificate_pem,
        **others,
    }


async def test_records_come_and_go_over_tls(tmp_path: Path) -> None:
    async with secure_broker(tmp_path / "data") as broker:
        options = client_of(broker, ANNA)
        values = [bytes((number,)) * 100_000 for number in range(20)]
        async with Producer[bytes, bytes](options) as producer:
            for value in values:
                await producer.send("t", value)
        part = TopicPartition("t", 0)
        async with Consumer[bytes, bytes](options, auto_offset_reset="earliest") as reader:
            reader.assign([part])
            assert [(await anext(reader)).value for _ in values] == values


async def test_who_a_client_is_comes_from_its_certificate(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[str] = []
    respond = Dispatcher.respond

    def noting(self: Dispatcher, client: Client, frame: memoryview) -> object:
        seen.append(str(client.principal))
        return respond(self, client, frame)

    monkeypatch.setattr(Dispatcher, "respond", noting)
    rules = "RULE:^CN=(anna)$/$1/,DEFAULT"
    async with secure_broker(tmp_path / "data", ssl_principal_mapping_rules=rules) as broker:
        for own in (ANNA, BOB):
            async with Admin(client_of(broker, own)) as admin:
                await admin.list_topics()
    assert set(seen) == {"User:anna", "User:CN=bob"}


async def test_who_has_no_certificate_or_no_rule_stays_outside(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")
    async with secure_broker(
        tmp_path / "data", ssl_principal_mapping_rules="RULE:^CN=(anna)$/$1/"
    ) as broker:
        for own in (identity(authority(), "anna"), BOB):
            options = client_of(broker, own) | {"default.api.timeout.ms": 1}
            with pytest.raises(KafkaError):
                await Admin(options).start()
        await Admin(client_of(broker, ANNA)).start()
        exposed = "\n".join(broker.broker.metrics.lines())
        assert 'failed_authentication_total{listener="SSL"' in exposed
    assert "(SSL handshake failed): certificate verify failed" in caplog.text
    assert "(SSL handshake failed): no rule of ssl.principal.mapping.rules" in caplog.text


@pytest.mark.parametrize(
    ("others", "reason"),
    [
        ({"ssl_keystore_location": "/nowhere.pem"}, "listener SSL://.*: /nowhere.pem: No such"),
        ({"ssl_cipher_suites": "TLS_AES_128_GCM_SHA256"}, "cannot choose"),
        ({"ssl_principal_mapping_rules": "RULE:(/x/"}, "mapping.rules"),
        ({"ssl_engine_factory_class": "com.example.X"}, "engine.factory"),
        ({"ssl_truststore_certificates": authority().certificate_pem}, "can't connect to a server"),
    ],
)
async def test_a_broker_does_not_start_with_what_cannot_work(
    tmp_path: Path, others: dict[str, str], reason: str
) -> None:
    with pytest.raises(InvalidConfig, match=reason):
        async with secure_broker(tmp_path / "data", **others):
            pass


def test_a_certificate_that_cannot_be_read_is_nobodys() -> None:
    with pytest.raises(PermissionError, match="cannot be read"):
        principal_of(b"0", read_mapping("DEFAULT"))
    der = ssl.PEM_cert_to_DER_cert(ANNA.certificate_pem)
    assert str(principal_of(der, read_mapping("DEFAULT"))) == "User:CN=anna"


def test_rules_may_be_those_of_one_listener(tmp_path: Path) -> None:
    own = {"listener.name.ssl.ssl.principal.mapping.rules": "RULE:^CN=(.*)$/$1/"}
    startup = read_startup(settings_of(tmp_path / "data") | own)
    mapping = mapping_of(startup, startup.listeners.bound[0])
    assert mapping is not None
    assert mapping.name_of("CN=anna") == "anna"


async def test_a_broker_speaks_tls_with_another_whose_name_it_checks(tmp_path: Path) -> None:
    async with secure_broker(tmp_path / "data", listeners="SSL://:0") as other:
        startup = read_startup(settings_of(tmp_path / "data"))
        channels = Channels(startup, SystemClock(), key_stores=other.broker.key_stores)
        assert channels.listener == "SSL"
        limits = ChannelLimits(timeout_s=5)
        channel = channels.open("127.0.0.1", other.ports["SSL"], "test", limits)
        assert isinstance(await channel.call(ApiVersionsRequest(), 0), ApiVersionsResponse)
        channel.close()
        nameless = channels.open("127.0.0.2", other.ports["SSL"], "test", limits)
        with pytest.raises(OSError, match="certificate is not valid for '127\\.0\\.0\\.2'"):
            await nameless.call(ApiVersionsRequest(), 0)
        nameless.close()


async def test_three_brokers_replicate_over_tls_and_are_told_on_the_control_plane(
    tmp_path: Path,
) -> None:
    ensemble = MemoryEnsemble(SystemClock())

    async def open_tree(*_: object) -> MemoryTree:
        return ensemble.connect()

    async with AsyncExitStack() as stack:
        for number in range(3):
            settings = settings_of(
                tmp_path / f"data-{number}",
                broker_id=str(number),
                zookeeper_connect="memory:2181",
                listeners="SSL://127.0.0.1:0,CONTROL://127.0.0.1:0",
                listener_security_protocol_map="SSL:SSL,CONTROL:SSL",
                control_plane_listener_name="CONTROL",
            )
            broker = await stack.enter_async_context(
                running(read_startup(settings), Ports(open_tree=open_tree))
            )
        async with Admin(client_of(broker, ANNA)) as admin:
            (await admin.create_topics([NewTopic("t", 1, 3)])).check()
        async with Producer[bytes, bytes](client_of(broker, ANNA), acks="all") as producer:
            assert (await producer.send_and_wait("t", b"value")).offset == 0
        control = next(one for one in broker.broker.listeners if one.endpoint.name == "CONTROL")
        assert control.connection_count > 0


async def test_logins_over_tls_get_the_rights_of_their_user(tmp_path: Path) -> None:
    data = tmp_path / "data"
    login = "listener.name.sasl_ssl.plain.sasl.jaas.config"
    settings = {
        **settings_of(data),
        "listeners": "SASL_SSL://127.0.0.1:0",
        "security.inter.broker.protocol": "SASL_SSL",
        "sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-512",
        "sasl.mechanism.inter.broker.protocol": "PLAIN",
        login: f'{PLAIN} required username="admin" password="x" user_admin="x" user_anna="y";',
        "authorizer.class.name": "kafka.security.authorizer.AclAuthorizer",
        "super.users": "User:admin",
    }
    async with running(read_startup(settings), Ports()) as broker:

        def options(user: str, password: str) -> dict[str, object]:
            return {
                "bootstrap.servers": f"127.0.0.1:{broker.ports['SASL_SSL']}",
                "security.protocol": "SASL_SSL",
                "sasl.mechanism": "PLAIN",
                "sasl.username": user,
                "sasl.password": password,
                "ssl.truststore.certificates": CA.certificate_pem,
            }

        async with Admin(options("admin", "x")) as admin:
            (await admin.create_topics([NewTopic("t", 1)])).check()
            with pytest.raises(KafkaError) as refused:
                async with Producer[bytes, bytes](options("anna", "y")) as producer:
                    await producer.send_and_wait("t", b"too early")
            assert refused.value.code is ErrorCode.TOPIC_AUTHORIZATION_FAILED
            rule = Acl(
                resource_type=ResourceType.TOPIC,
                resource_name="t",
                principal="User:anna",
                operation=Operation.ALL,
            )
            (await admin.create_acls([rule])).check()
            async with Producer[bytes, bytes](options("anna", "y")) as producer:
                assert (await producer.send_and_wait("t", b"allowed")).offset == 0
        with pytest.raises(KafkaError) as stranger:
            await Admin(options("anna", "wrong")).start()
        assert stranger.value.code is ErrorCode.SASL_AUTHENTICATION_FAILED
