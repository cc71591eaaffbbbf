"""Moves show how far they are; leaders are elected where another replica leads."""

import pytest

from moldau.client.admin.log_dirs import Replica
from moldau.client.admin.reassignments import Reassignment
from moldau.console.api.reassignments import moves_of, progress
from moldau.model import TopicPartition
from moldau.web.errors import WebError
from unit.console.asking import Asking

T0 = TopicPartition("t", 0)


def test_progress_is_what_new_replicas_have_of_the_largest_old_one() -> None:
    move = Reassignment([3, 4, 1, 2], adding=[3, 4], removing=[1, 2])
    sizes = {Replica(1, T0): 1000, Replica(2, T0): 900, Replica(3, T0): 250, Replica(4, T0): 2000}
    assert progress(T0, move, sizes) == {
        "replicas": [3, 4, 1, 2],
        "adding": [3, 4],
        "removing": [1, 2],
        "bytes": 250 + 1000,
        "bytes_in_all": 2000,
    }


def test_progress_of_what_nobody_answers_for_is_none() -> None:
    found = progress(T0, Reassignment([2, 1], adding=[2], removing=[1]), {})
    assert (found["bytes"], found["bytes_in_all"]) == (0, 0)


@pytest.mark.parametrize("replicas", [None, [], "1", [-1], [1, 1], ["1"], [True]])
def test_what_are_no_brokers_is_refused(replicas: object) -> None:
    with pytest.raises(WebError, match=r"^replicas:"):
        moves_of({"moves": [{"topic": "t", "partition": 0, "replicas": replicas}]})


async def test_a_move_is_planned_first(console: Asking) -> None:
    await console.send("POST", "/topics", {"name": "still", "partitions": 1})
    assert await console.get("/reassignments") == {"moves": [], "throttles": {}}
    move = {"topic": "still", "partition": 0, "replicas": [0]}
    (row,) = (await console.send("POST", "/reassignments/plan", {"moves": [move]}))["moves"]
    assert (row["old"], row["new"], row["copied_bytes"]) == ([0], [0], 0)
    away = {"moves": [{**move, "replicas": [7]}]}
    refused = await console.refused("POST", "/reassignments/plan", away)
    assert refused == (409, "there is no broker 7")
    none = {"moves": [{**move, "partition": 5}]}
    assert (await console.refused("POST", "/reassignments/plan", none))[0] == 404
    assert await console.send("POST", "/reassignments", {"moves": [move]}) == {"begun": 1}
    cancelled = {"partitions": [{"topic": "still", "partition": 0}]}
    status, message = await console.refused("POST", "/reassignments/cancel", cancelled)
    assert (status, message.partition(":")[0]) == (409, "NO_REASSIGNMENT_IN_PROGRESS")


async def test_throttles_need_a_move_and_are_taken_away(console: Asking) -> None:
    refused = await console.refused("PUT", "/reassignments/throttle", {"bytes_per_s": 1})
    assert "nothing to slow down" in refused[1]
    assert (await console.refused("PUT", "/reassignments/throttle", {"bytes_per_s": 0}))[0] == 400
    assert await console.send("DELETE", "/reassignments/throttle", {}) == {"cleared": True}


async def test_leaders_are_elected(console: Asking) -> None:
    await console.send("POST", "/topics", {"name": "led", "partitions": 1})
    assert (await console.get("/elections"))["partitions"] == []
    wanted = {"partitions": [{"topic": "led", "partition": 0}]}
    assert (await console.send("POST", "/elections", wanted))["failed"] == []
    unclean = {**wanted, "type": "unclean"}
    assert "confirm" in (await console.refused("POST", "/elections", unclean))[1]
    two = {**unclean, "partitions": wanted["partitions"] * 2}
    assert "of one partition" in (await console.refused("POST", "/elections", two))[1]
    missing = {"partitions": [{"topic": "none", "partition": 0}]}
    (failed,) = (await console.send("POST", "/elections", missing))["failed"]
    assert failed["error"] == "UNKNOWN_TOPIC_OR_PARTITION"
