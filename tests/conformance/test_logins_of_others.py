"""More clients log in: kafka-go and sarama, and rskafka, by what each of them speaks."""

from collections.abc import Sequence

import pytest

from conformance.clients.programs import go_program, rust_program
from conformance.clients.talking import talking
from conformance.known_logins import CERTIFICATE, SCRAM, WAYS, Secured, secured

__all__ = ["secured"]  # the broker of all

PASSWORDS = ("PLAIN", *SCRAM)
FAILED = {
    "kafka-go": "SASL Authentication Failed",
    "sarama": "SASL Authentication failed",
    "rskafka": "SaslAuthenticationFailed",
}


def log_in(command: list[str], secured: Secured, client: str, ways: Sequence[str]) -> None:
    """By each way a record there and back; with another password, not."""
    with talking(command) as ask:
        for way in ways:
            asked = {
                "client": client,
                "bootstrap": secured.servers(way),
                "topic": f"{client}-{way}",
                "value": f"by {way}",
                "login": secured.login(way),
            }
            assert ask(asked) == {"value": f"by {way}", "error": ""}, way
            if way in PASSWORDS:
                wrong = {**secured.login(way), "password": "wrong"}
                refused = ask({**asked, "login": wrong})
                assert FAILED[client] in refused["error"], way


@pytest.mark.needs("go")
@pytest.mark.parametrize(
    ("client", "ways"), [("kafka-go", (*PASSWORDS, CERTIFICATE)), ("sarama", WAYS)]
)
def test_clients_in_go_log_in(secured: Secured, client: str, ways: Sequence[str]) -> None:
    log_in(go_program("logins"), secured, client, ways)


@pytest.mark.needs("cargo")
def test_rskafka_logs_in(secured: Secured) -> None:
    log_in(rust_program("rskafka"), secured, "rskafka", WAYS)
