"""Every error has a cause, those that a user can get have advice, and what it names exists."""

import re
import traceback

from moldau import Admin
from moldau.advice import ADVICE, CAUSES
from moldau.client.settings import AdminSettings, ConsumerSettings, ProducerSettings, dotted
from moldau.config.broker.broker import broker_settings
from moldau.config.topic import topic_settings
from moldau.errors import ErrorCode, KafkaError

# Brokers send these to each other, or clients deal with them and nobody sees them.
WITHOUT = {
    "NONE",
    "STALE_CONTROLLER_EPOCH",
    "INVALID_COMMIT_OFFSET_SIZE",
    "DUPLICATE_SEQUENCE_NUMBER",
    "TRANSACTION_COORDINATOR_FENCED",
    "FETCH_SESSION_ID_NOT_FOUND",
    "INVALID_FETCH_SESSION_EPOCH",
    "STALE_BROKER_EPOCH",
    "MEMBER_ID_REQUIRED",
    "INCONSISTENT_VOTER_SET",
    "INVALID_UPDATE_VERSION",
    "PRINCIPAL_DESERIALIZATION_FAILURE",
    "SNAPSHOT_NOT_FOUND",
    "POSITION_OUT_OF_RANGE",
    "DUPLICATE_BROKER_REGISTRATION",
    "BROKER_ID_NOT_REGISTERED",
    "INCONSISTENT_CLUSTER_ID",
    "FETCH_SESSION_TOPIC_ID_ERROR",
    "INELIGIBLE_REPLICA",
    "NEW_LEADER_ELECTED",
    "MISMATCHED_ENDPOINT_TYPE",
    "UNSUPPORTED_ENDPOINT_TYPE",
    "UNKNOWN_CONTROLLER_ID",
    "UNKNOWN_SUBSCRIPTION_ID",
    "TELEMETRY_TOO_LARGE",
    "INVALID_REGISTRATION",
    "INVALID_RECORD_STATE",
    "SHARE_SESSION_NOT_FOUND",
    "INVALID_SHARE_SESSION_EPOCH",
    "FENCED_STATE_EPOCH",
    "INVALID_VOTER_KEY",
    "DUPLICATE_VOTER",
    "VOTER_NOT_FOUND",
}


def test_every_code_has_advice_or_is_nothing_for_users() -> None:
    assert ADVICE.keys() | WITHOUT == set(ErrorCode.__members__)
    assert not ADVICE.keys() & WITHOUT


def test_every_code_has_a_cause() -> None:
    assert CAUSES.keys() == set(ErrorCode.__members__) - {"NONE"}
    assert KafkaError(ErrorCode.NOT_CONTROLLER).cause == CAUSES["NOT_CONTROLLER"]


def test_settings_and_methods_that_are_named_exist() -> None:
    clients = (AdminSettings, ConsumerSettings, ProducerSettings)
    known = {dotted(name) for each in clients for name in each.__dataclass_fields__}
    known |= broker_settings().keys() | topic_settings().keys()
    for text in [*ADVICE.values(), *CAUSES.values()]:
        for name in re.findall(r"\b[a-z_]+(?:\.[a-z_]+)+", text):
            kind, _, method = name.partition(".")
            assert name in known or (kind == "admin" and hasattr(Admin, method)), name


def test_an_error_says_what_to_check() -> None:
    error = KafkaError(ErrorCode.NOT_ENOUGH_REPLICAS, "orders-0")
    assert error.advice is not None
    assert "min.insync.replicas" in error.advice
    assert str(error) == "orders-0"  # what travels in answers is as it was
    assert KafkaError(ErrorCode.STALE_BROKER_EPOCH).advice is None


def test_a_traceback_shows_what_to_check_below_the_error() -> None:
    error = KafkaError(ErrorCode.SASL_AUTHENTICATION_FAILED, "no")
    error.add_note("and this")
    shown = traceback.format_exception(error)
    assert shown[-2].startswith("Check: user, password")
    assert shown[-1] == "and this\n"
    assert traceback.format_exception(KafkaError(ErrorCode.VOTER_NOT_FOUND))[-1].endswith(
        "VOTER_NOT_FOUND\n"
    )
