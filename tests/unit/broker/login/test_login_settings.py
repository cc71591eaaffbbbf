"""How listeners say that clients log in, and what is refused at start."""

from pathlib import Path

import pytest

from moldau.broker.login.login_settings import read_logins
from moldau.config.listener_settings import ListenerSettings
from moldau.errors import InvalidConfig

KAFKA = "org.apache.kafka.common.security"
PLAIN_MODULE = f"{KAFKA}.plain.PlainLoginModule"
PLAIN_JAAS = "listener.name.inside.plain.sasl.jaas.config"
USERS = {PLAIN_JAAS: f'{PLAIN_MODULE} required username="b" user_b="x" user_anna="sesam";'}


def settings(texts: dict[str, str], mechanisms: str | None = "PLAIN") -> ListenerSettings:
    enabled = {} if mechanisms is None else {"sasl.enabled.mechanisms": mechanisms}
    return ListenerSettings({**enabled, **texts}, "INSIDE")


def test_users_of_plain_are_options_of_its_login_module() -> None:
    logins = read_logins(settings(USERS))
    assert logins.mechanism("PLAIN").passwords == {"b": "x", "anna": "sesam"}
    assert logins.frame_size_max == 524_288


def test_scram_needs_no_login_module_since_its_users_are_in_the_tree() -> None:
    logins = read_logins(settings({}, "SCRAM-SHA-256,SCRAM-SHA-512"))
    assert [one.name for one in logins.mechanisms] == ["SCRAM-SHA-256", "SCRAM-SHA-512"]


def test_a_listener_and_a_mechanism_may_have_their_own() -> None:
    texts = {
        **USERS,
        "listener.name.inside.sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-512",
        "connections.max.reauth.ms": "1",
        "listener.name.inside.connections.max.reauth.ms": "2",
        "listener.name.inside.scram-sha-512.connections.max.reauth.ms": "3",
    }
    plain, scram = read_logins(settings(texts, "SCRAM-SHA-256")).mechanisms
    assert (plain.name, plain.reauthentication_ms) == ("PLAIN", 2)
    assert (scram.name, scram.reauthentication_ms) == ("SCRAM-SHA-512", 3)


def test_passwords_are_not_shown() -> None:
    assert "sesam" not in repr(read_logins(settings(USERS)))


@pytest.mark.parametrize(
    ("texts", "mechanisms", "reason"),
    [
        ({}, None, r"Kafka's default, GSSAPI \(Kerberos\), is not available; .*kafka-configs"),
        ({}, "SCRAM-SHA-512,GSSAPI", r"GSSAPI \(Kerberos\) is not available"),
        ({}, "DIGEST-MD5", "no mechanism DIGEST-MD5"),
        ({}, "", "needs one of"),
        ({}, "PLAIN", r"inside\.plain\.sasl\.jaas\.config: PLAIN needs users"),
        ({"sasl.jaas.config": USERS[PLAIN_JAAS]}, "PLAIN", "PLAIN needs users"),
        ({PLAIN_JAAS: "x"}, "PLAIN", r"\(hidden\)"),
        (
            {**USERS, "sasl.server.callback.handler.class": "com.example.Ldap"},
            "PLAIN",
            "Java classes cannot be loaded",
        ),
    ],
)
def test_what_would_let_in_nobody_or_somebody_else_is_refused(
    texts: dict[str, str], mechanisms: str | None, reason: str
) -> None:
    with pytest.raises(InvalidConfig, match=reason):
        read_logins(settings(texts, mechanisms))


@pytest.mark.parametrize(
    "module",
    [
        "com.sun.security.auth.module.JndiLoginModule",
        "com.sun.security.auth.module.LdapLoginModule",
        "com.sun.security.auth.module.Krb5LoginModule",
        f"{KAFKA}.scram.ScramLoginModule",
        "PlainLoginModule",
    ],
)
def test_cve_2023_25194_2025_27818_and_2025_27819_login_modules_are_never_loaded(
    module: str,
) -> None:
    texts = {PLAIN_JAAS: f'{module} required user_anna="sesam";'}
    with pytest.raises(InvalidConfig, match=f"must be {PLAIN_MODULE}") as caught:
        read_logins(settings(texts))
    assert "sesam" not in str(caught.value)


def test_a_login_file_has_a_section_for_all_mechanisms(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "jaas.conf"
    monkeypatch.setenv("KAFKA_OPTS", f"-Djava.security.auth.login.config={path}")
    scram = f'{KAFKA}.scram.ScramLoginModule required username="b" password="y";'
    plain = f'{PLAIN_MODULE} required user_anna="sesam";'
    path.write_text(f"KafkaServer {{ {scram} {plain} }};")
    logins = read_logins(settings({}, "PLAIN,SCRAM-SHA-256"))
    assert logins.mechanism("PLAIN").passwords == {"anna": "sesam"}
    assert logins.mechanism("SCRAM-SHA-256").options["username"] == "b"
    other = f'{PLAIN_MODULE} required user_eve="x";'
    path.write_text(f"KafkaServer {{ {plain} }}; inside.KafkaServer {{ {other} }};")
    assert read_logins(settings({})).mechanism("PLAIN").passwords == {"eve": "x"}
    path.write_text("KafkaServer { com.example.Evil required; };")
    with pytest.raises(InvalidConfig, match="the login module must be"):
        read_logins(settings({}))
    path.unlink()
    with pytest.raises(InvalidConfig, match="cannot be read"):
        read_logins(settings({}))
