"""The topics' records make the state, in whatever order they were compacted."""

from moldau.connect.storage.cluster_state import ClusterState


def test_a_connector_comes_changes_and_goes() -> None:
    state = ClusterState()
    state.apply_config(b"connector-a", b'{"properties":{"x":"1"}}')
    assert (state.configs, state.targets) == ({"a": {"x": "1"}}, {"a": "STARTED"})
    state.apply_config(b"target-state-a", b'{"state":"PAUSED","state.v2":"STOPPED"}')
    assert state.targets == {"a": "STOPPED"}
    state.apply_config(b"connector-a", None)
    state.apply_config(b"target-state-a", None)
    assert (state.configs, state.targets) == ({}, {})


def test_it_is_known_when_javas_workers_last_made_a_key() -> None:
    state = ClusterState()
    assert state.session_key_ms == 0
    state.apply_config(b"session-key", b'{"key":"x","creation-timestamp":5}')
    assert state.session_key_ms == 5
    state.apply_config(b"session-key", None)
    assert state.session_key_ms == 0


def test_settings_of_tasks_count_when_all_of_them_are_there() -> None:
    state = ClusterState()
    state.apply_config(b"task-a-0", b'{"properties":{"n":"0"}}')
    assert state.tasks == {}
    state.apply_config(b"commit-a", b'{"tasks":2}')
    assert state.tasks == {}
    state.apply_config(b"task-a-0", b'{"properties":{"n":"0"}}')
    state.apply_config(b"task-a-1", b'{"properties":{"n":"1"}}')
    state.apply_config(b"commit-a", b'{"tasks":2}')
    assert state.tasks == {"a": [{"n": "0"}, {"n": "1"}]}
    state.apply_config(b"commit-a", b'{"tasks":1}')
    assert state.tasks == {"a": [{"n": "0"}]}


def test_offsets_are_kept_by_partition_and_may_be_reset() -> None:
    state = ClusterState()
    state.apply_offset(b'["a",{"f":"x"}]', b'{"position":5}')
    assert state.offset_of("a", {"f": "x"}) == {"position": 5}
    assert state.offsets_of("a") == [({"f": "x"}, {"position": 5})]
    state.apply_offset(b'["a",{"f":"x"}]', None)
    assert state.offset_of("a", {"f": "x"}) is None


def test_topics_of_connectors_are_remembered() -> None:
    state = ClusterState()
    state.apply_status(b"status-topic-t:connector-a", b"{}")
    assert state.topics == {"a": {"t"}}
    state.apply_status(b"status-topic-t:connector-a", None)
    assert state.topics == {"a": set()}


def test_rubbish_and_what_others_write_is_left_out() -> None:
    state = ClusterState()
    for key in (None, b"session-key", b"connector-x", b"target-state-x", b"commit-x", b"task-x-y"):
        state.apply_config(key, b"nonsense")
        state.apply_offset(key, b"nonsense")
        state.apply_status(key, b"nonsense")
    state.apply_offset(b"[5,5]", b"{}")
    assert (state.configs, state.targets, state.offsets) == ({}, {}, {})
