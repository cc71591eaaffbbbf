"""Our error codes against the `Errors` of kafka-clients."""

from conformance.apache.lines import JavaProgram
from conformance.apache.marks import needs_apache
from moldau.errors import ErrorCode

pytestmark = needs_apache("kafka-3.9")


def test_codes_and_names_are_those_of_java(messages_39: JavaProgram) -> None:
    theirs = {error["name"]: error["code"] for error in messages_39.call("errors")}
    # From 128 on they are Kafka 4's.
    assert {code.name: code.value for code in ErrorCode if code < 128} == theirs


def test_java_retries_the_same_errors(messages_39: JavaProgram) -> None:
    theirs = {error["name"] for error in messages_39.call("errors") if error["is_retriable"]}
    assert {code.name for code in ErrorCode if code.is_retriable} == theirs
