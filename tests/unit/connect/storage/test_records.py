"""Keys and values are those that Apache's workers write."""

from moldau.connect.storage import records
from moldau.connect.storage.records import Status


def test_settings_and_states_have_connects_keys() -> None:
    assert records.connector_config("a", {"x": "1"}).encoded() == (
        b"connector-a",
        b'{"properties":{"x":"1"}}',
    )
    assert records.connector_config("a", None).encoded() == (b"connector-a", None)
    stopped = records.target_state("a", "STOPPED").encoded()
    assert stopped == (b"target-state-a", b'{"state":"PAUSED","state.v2":"STOPPED"}')
    assert records.target_state("a", None).encoded() == (b"target-state-a", None)
    assert records.task_config("a", 0, {}).key == "task-a-0"
    assert records.task_commit("a", 2).encoded() == (b"commit-a", b'{"tasks":2}')


def test_statuses_and_topics_have_connects_keys() -> None:
    status = Status("RUNNING", "h:1", None, 8)
    assert records.connector_status("a", status).encoded() == (
        b"status-connector-a",
        b'{"state":"RUNNING","trace":null,"worker_id":"h:1","generation":8}',
    )
    assert records.task_status("a", 1, None).encoded() == (b"status-task-a-1", None)
    key, value = records.active_topic("a", "t", 0, 5).encoded()
    assert key == b"status-topic-t:connector-a"
    assert value == b'{"topic":{"name":"t","connector":"a","task":0,"discoverTimestamp":5}}'
    assert records.topic_of_status(key.decode()) == ("t", "a")
    assert records.topic_of_status("status-task-a-0") is None


def test_an_offsets_key_is_an_array() -> None:
    assert records.offset_key("a", {"filename": "x"}) == b'["a",{"filename":"x"}]'
