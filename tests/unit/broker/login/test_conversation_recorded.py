"""Logins are answered byte for byte as by Apache Kafka 3.9, but for what is meant to differ."""

from moldau.testing.broker import running_broker
from unit.broker.login.login_talks import PLAIN, SASL, SHORT, answers, recorded, settings, talks

MEANT = {"OAUTHBEARER b'n,,\\x01auth=Basic x\\x01\\x01'"}
"""Apache's broker fails within itself, and hangs up where it otherwise answers."""


def test_every_talk_goes_as_with_apache_kafka() -> None:
    """Recorded by `conformance/record_logins.py`."""
    listeners = ",".join(f"{name}://127.0.0.1:0" for name in (PLAIN, SASL, SHORT))
    unsigned = {"moldau.oauthbearer.allow.unsecured.tokens": "true"}
    expected, found = recorded(), {}
    with running_broker({**settings(listeners), **unsigned}) as broker:
        for name, listener, frames in talks():
            found[name] = answers(broker.running.ports[listener], frames)
    others = [
        f"{name}\n  ours   {found[name]}\n  theirs {expected.get(name)}"
        for name in found
        if found[name] != expected.get(name) and name not in MEANT
    ]
    assert not others, "\n".join(others)
    assert found.keys() == expected.keys()
