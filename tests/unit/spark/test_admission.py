"""Batches wait until there is enough to read, but not for ever."""

from moldau.model import TopicPartition
from moldau.spark.admission import BatchAdmission

A, B = TopicPartition("t", 0), TopicPartition("t", 1)
START = {A: 10, B: 0}


def test_without_a_minimum_everything_is_read_at_once() -> None:
    admission = BatchAdmission(rows_min=None, delay_max_ms=100)
    assert admission.end(START, {A: 11, B: 0}, None, now_ms=0) == {A: 11, B: 0}
    assert admission.end(START, {A: 110, B: 100}, 20, now_ms=0) == {A: 20, B: 10}


def test_a_batch_waits_for_the_minimum_or_for_the_longest_delay() -> None:
    admission = BatchAdmission(rows_min=10, delay_max_ms=100)
    few, enough = {A: 14, B: 5}, {A: 15, B: 5}
    assert admission.end(START, few, None, now_ms=1000) == few  # the first one never waits
    assert admission.end(START, few, None, now_ms=1099) is START
    assert admission.end(START, enough, None, now_ms=1099) == enough
    assert admission.end(START, few, None, now_ms=1198) is START
    assert admission.end(START, few, None, now_ms=1199) == few


def test_minimum_and_maximum_hold_together() -> None:
    admission = BatchAdmission(rows_min=10, delay_max_ms=100, admitted_ms=0)
    assert admission.end(START, {A: 19, B: 0}, 20, now_ms=1) is START
    assert admission.end(START, {A: 110, B: 100}, 20, now_ms=1) == {A: 20, B: 10}


def test_the_first_rows_after_a_time_without_any_wait_for_nothing() -> None:
    admission = BatchAdmission(rows_min=10, delay_max_ms=100, admitted_ms=0)
    one = {A: 11, B: 0}
    assert admission.end(START, dict(START), None, now_ms=101) == START
    assert admission.end(START, one, None, now_ms=102) == one
    assert admission.end(one, {A: 12, B: 0}, None, now_ms=103) is one
