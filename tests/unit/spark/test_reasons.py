"""The root of what Spark reports is found."""

import pytest

from moldau.spark.reasons import LENGTH_MAX, is_of_data, reason

PLAN = """
=== Streaming Query ===
Identifier: words-counts [id = 1, runId = 2]
Logical Plan:
WriteToMicroBatchDataSource ForeachBatchUserFuncSink
+- ~StreamingDataSourceV2ScanRelation[key#1, value#2] PythonScan Error: not this one
"""
OF_SOURCE = """[STREAM_FAILED] Query [id = 1, runId = 2] terminated with exception: \
[PYTHON_STREAMING_DATA_SOURCE_RUNTIME_ERROR] Failed when Python streaming data source perform \
latestOffset: Traceback (most recent call last):
  File "/x/source.py", line 230, in _check_losses
    raise KafkaError(ErrorCode.OFFSET_OUT_OF_RANGE, f"{lost[0]}: {advice}")
moldau.errors.OffsetOutOfRange: lines-1 ends at 0, and was read to 5: was the topic deleted?
 SQLSTATE: 38000 SQLSTATE: XXKST"""
OF_WORKER = """[STREAM_FAILED] Query [id = 1] terminated with exception: Job aborted due to stage \
failure: Task 0 in stage 5.0 failed 1 times, most recent failure: Lost task 0.0 in stage 5.0: \
org.apache.spark.api.python.PythonException: Traceback (most recent call last):
  File "/x/failures.py", line 80, in handle
moldau.streams.errors.StepFailed: KSTREAM-MAPVALUES-0000000001 failed on t-0 at offset 3

\tat org.apache.spark.api.python.BasePythonRunner$ReaderIterator.handlePythonException
Caused by: org.apache.spark.api.python.PythonException: Traceback (most recent call last):
ValueError: no number

The above exception was the direct cause of the following exception:

moldau.streams.errors.StepFailed: KSTREAM-MAPVALUES-0000000001 failed on t-0 at offset 3
\t... 1 more"""
RAISED = """[STREAM_FAILED] Query terminated with exception: Job aborted: Lost task 0.0: \
org.apache.spark.SparkRuntimeException: [USER_RAISED_EXCEPTION] undecodable record SQLSTATE: P0001
org.apache.spark.SparkRuntimeException: [USER_RAISED_EXCEPTION] undecodable record SQLSTATE: P0001
\tat org.apache.spark.sql.errors.QueryExecutionErrors$.raiseError"""


@pytest.mark.parametrize(
    ("report", "expected"),
    [
        (
            OF_SOURCE,
            "OffsetOutOfRange: lines-1 ends at 0, and was read to 5: was the topic deleted?",
        ),
        (OF_WORKER, "StepFailed: KSTREAM-MAPVALUES-0000000001 failed on t-0 at offset 3"),
        (RAISED, "undecodable record"),
        (
            "[STREAM_FAILED] Query [id = 1] terminated with exception: gone SQLSTATE: XXKST",
            "gone",
        ),
        ("org.apache.spark.SparkException: the executor is lost", "the executor is lost"),
        ("", "no reason was given"),
    ],
)
def test_the_root_is_told_in_one_line(report: str, expected: str) -> None:
    assert reason(report + PLAN) == expected


def test_a_long_reason_is_cut() -> None:
    assert len(reason(f"ValueError: {'x' * 9999}")) == LENGTH_MAX + len("ValueError: ")


def test_what_lies_in_the_data_is_told_apart() -> None:
    assert is_of_data(OF_WORKER)
    assert is_of_data(RAISED)
    assert not is_of_data(OF_SOURCE)
