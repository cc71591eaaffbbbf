"""Every error code has its class, and every error its code's class."""

import copy
import pickle
from collections.abc import Callable

import pytest

from moldau import errors
from moldau.errors import (
    ErrorCode,
    GroupAuthorizationFailed,
    KafkaError,
    NotLeaderOrFollower,
    OffsetOutOfRange,
    OutOfOrderSequenceNumber,
    ProtocolError,
    RetriableError,
    StaleMetadataError,
    error_for,
)

CODES = [code for code in ErrorCode if code is not ErrorCode.NONE]


@pytest.mark.parametrize("code", CODES, ids=lambda code: code.name)
def test_each_code_is_raised_as_the_class_named_after_it(code: ErrorCode) -> None:
    error = KafkaError(code)
    assert type(error) is error_for(code)
    assert type(error).__name__.lower() == code.name.replace("_", "").lower()
    assert error.code is code


def test_no_class_belongs_to_two_codes() -> None:
    assert len({error_for(code) for code in CODES}) == len(CODES)


def test_numbers_run_from_minus_one_without_a_gap() -> None:
    assert sorted(ErrorCode) == list(range(-1, 130))


def test_an_error_raised_by_code_is_caught_by_class() -> None:
    with pytest.raises(NotLeaderOrFollower, match="moved"):
        raise KafkaError(ErrorCode.NOT_LEADER_OR_FOLLOWER, "moved")


def test_an_error_without_message_shows_its_code() -> None:
    assert str(KafkaError(ErrorCode.OFFSET_OUT_OF_RANGE)) == "OFFSET_OUT_OF_RANGE"


def test_a_class_refuses_the_code_of_another() -> None:
    with pytest.raises(AssertionError, match="INVALID_RECORD is raised as InvalidRecord"):
        OffsetOutOfRange(ErrorCode.INVALID_RECORD)


def test_a_class_defined_elsewhere_may_carry_any_code() -> None:
    class Detailed(KafkaError):
        def __init__(self, code: ErrorCode, details: list[int]) -> None:
            super().__init__(code, f"{len(details)} details")

    error = Detailed(ErrorCode.INVALID_RECORD, [1, 2])
    assert type(error) is Detailed
    assert (error.code, str(error)) == (ErrorCode.INVALID_RECORD, "2 details")


@pytest.mark.parametrize("duplicate", [copy.copy, lambda error: pickle.loads(pickle.dumps(error))])
def test_errors_survive_copying_and_pickling(duplicate: Callable[[KafkaError], KafkaError]) -> None:
    twin = duplicate(KafkaError(ErrorCode.INVALID_CONFIG, "no such key"))
    assert type(twin) is errors.InvalidConfig
    assert (twin.code, str(twin)) == (ErrorCode.INVALID_CONFIG, "no such key")


def test_kinds_of_errors_can_be_caught_together() -> None:
    assert issubclass(NotLeaderOrFollower, StaleMetadataError)
    assert issubclass(StaleMetadataError, RetriableError)
    assert issubclass(GroupAuthorizationFailed, errors.AuthorizationFailed)
    assert issubclass(errors.SaslAuthenticationFailed, errors.AuthenticationFailed)
    assert issubclass(errors.UnknownProducerId, OutOfOrderSequenceNumber)


def test_retriable_codes_are_those_with_a_retriable_class() -> None:
    assert ErrorCode.NOT_COORDINATOR.is_retriable
    assert ErrorCode.CORRUPT_MESSAGE.is_retriable
    assert not ErrorCode.OFFSET_OUT_OF_RANGE.is_retriable
    assert not ErrorCode.REBALANCE_IN_PROGRESS.is_retriable
    assert not ErrorCode.NONE.is_retriable
    assert all(code.is_retriable is issubclass(error_for(code), RetriableError) for code in CODES)


def test_stale_metadata_is_told_by_the_class() -> None:
    assert error_for(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION).is_stale_metadata
    assert not error_for(ErrorCode.NOT_COORDINATOR).is_stale_metadata


def test_a_code_from_the_future_is_an_unknown_server_error() -> None:
    assert ErrorCode(12345) is ErrorCode.UNKNOWN_SERVER_ERROR
    with pytest.raises(ValueError, match="not a valid ErrorCode"):
        ErrorCode("NONE")  # type: ignore[arg-type]


def test_undecodable_bytes_have_no_code() -> None:
    assert not issubclass(ProtocolError, KafkaError)


def test_an_error_without_words_of_its_own_has_no_message() -> None:
    assert KafkaError(ErrorCode.REQUEST_TIMED_OUT).message is None
    assert KafkaError(ErrorCode.REQUEST_TIMED_OUT, "too late").message == "too late"
