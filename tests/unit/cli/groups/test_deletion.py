"""Groups, and offsets of groups, that are to be forgotten."""

from moldau.cli.groups.deletion import reason
from moldau.errors import ErrorCode, KafkaError
from unit.cli.command import run


def test_what_can_be_deleted_is_and_the_rest_is_told(bootstrap: str) -> None:
    run("console-producer", bootstrap, "--topic", "t", stdin="x\n")
    reset = ("--reset-offsets", "--group", "g", "--to-latest", "--topic", "t", "--execute")
    run("consumer-groups", bootstrap, *reset)
    done = run("consumer-groups", bootstrap, "--delete", "--group", "g", "--group", "nope")
    assert "* Group 'nope' could not be deleted due to: " in done.stdout
    assert done.stdout.endswith("These consumer groups were deleted successfully: 'g'\n")


def test_offsets_of_a_topic_that_is_not_there(bootstrap: str) -> None:
    options = ("--delete-offsets", "--group", "g", "--topic", "nope")
    done = run("consumer-groups", bootstrap, *options)
    assert (done.code, "topic nope does not exist" in done.stdout) == (1, True)


def test_a_bare_code_becomes_a_sentence() -> None:
    assert reason(KafkaError(ErrorCode.NON_EMPTY_GROUP)) == "The group is not empty."
    assert reason(KafkaError(ErrorCode.NOT_COORDINATOR, "elsewhere")) == "elsewhere"
