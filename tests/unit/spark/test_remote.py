"""What Spark Connect cannot do is refused, with the way out."""

import pytest

from moldau.spark.remote import NeedsDriver, check_frame, check_master, is_of_connect


class Frame:
    """As a frame of Spark Connect: such a class is known by its module."""


class RemoteFrame:
    __module__ = "pyspark.sql.connect.dataframe"


def test_frames_of_connect_are_known_by_their_module() -> None:
    assert is_of_connect(RemoteFrame())
    assert not is_of_connect(Frame())


def test_exactly_once_needs_the_driver() -> None:
    check_frame(Frame())
    with pytest.raises(NeedsDriver, match="writes at least once; for exactly once"):
        check_frame(RemoteFrame())


@pytest.mark.parametrize(
    ("master", "remote", "words"),
    [
        ("sc://host:15002", "", "^sc://host:15002: topologies"),
        ("", "sc://other", "^SPARK_REMOTE=sc://other: topologies"),
    ],
)
def test_a_server_is_no_master(master: str, remote: str, words: str) -> None:
    with pytest.raises(NeedsDriver, match=words):
        check_master(master, {"SPARK_REMOTE": remote})


@pytest.mark.parametrize("master", ["local[2]", "spark://host:7077", ""])
def test_others_are_masters(master: str) -> None:
    check_master(master, {})
    check_master(master or "local", {"SPARK_REMOTE": "sc://other"})
