"""Our worker answers REST calls as Apache Kafka Connect 3.9.2 answered them."""

import json
import time
from pathlib import Path

from conformance.connect_replay import Answer, Replay, recorded
from moldau.testing.broker import running_broker
from unit.connect.started import started_worker

_DEADLINE_S = 10
# Where another answer is meant, and why.
_DIFFERENT = {
    "/": "the cluster has another id",
    "/connector-plugins": "there are more connectors",
    "/connector-plugins?connectorsOnly=false": "there are more plugins",
    "/admin/loggers": "loggers are Python's",
    "/admin/loggers/root": "its level is the test run's",
}
_BETTER = 400
"""What Apache answers with 500 are mistakes of the one who asks."""


def expected(replay: Replay, call: dict[str, object]) -> Answer:
    location = call.get("location")
    filled = None if location is None else replay.filled(str(location))
    body = json.loads(replay.filled(json.dumps(call["answer"])))
    status = call["status"]
    assert isinstance(status, int)
    return Answer(status, filled, body)


def answered(replay: Replay, call: dict[str, object], wanted: Answer) -> Answer:
    """What ours says; a question is asked again until what was begun before it is done."""
    found = replay.ask(call)
    deadline = time.monotonic() + _DEADLINE_S
    while call["method"] == "GET" and found != wanted and time.monotonic() < deadline:
        time.sleep(0.05)
        found = replay.ask(call)
    return found


def is_meant_to_differ(call: dict[str, object], wanted: Answer) -> bool:
    path, answer = str(call["path"]), json.dumps(call["answer"])
    if wanted.status != 200:
        return False
    if path == "/connectors/b/offsets":
        return '"kafka_offset": 2' in answer  # the end of the source's transaction has one, too
    if path.endswith("/config/validate"):
        # Beside that a pattern is missing, Apache says that null is no pattern.
        return 'because \\"this.pattern\\" is null' in answer
    return path in _DIFFERENT


def test_all_recorded_calls_are_answered_alike(tmp_path: Path) -> None:
    (tmp_path / "in.txt").write_text("one\ntwo\n")
    has_reset = False
    with (
        running_broker({"group.initial.rebalance.delay.ms": "0"}) as kafka,
        started_worker(kafka.bootstrap_servers) as worker,
    ):
        replay = Replay(worker.url, str(tmp_path))
        for call in recorded():
            replay.settle()
            wanted = expected(replay, call)
            has_reset = has_reset or call["path"] == "/connectors/a/topics/reset"
            if is_meant_to_differ(call, wanted):
                assert replay.ask(call).status == 200, call
            elif wanted.status == 500:
                assert replay.ask(call).status == _BETTER, call
            elif has_reset and call["path"] == "/connectors/a/topics":
                # Apache's answer still had what was reset just before.
                assert replay.ask(call).body == {"a": {"topics": []}}
            else:
                assert answered(replay, call, wanted) == wanted, call
