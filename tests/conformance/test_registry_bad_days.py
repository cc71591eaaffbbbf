"""Two registries, one killed, their broker away for half a minute: no id twice, none lost."""

import http.client
import json
import threading
import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from conformance.our_broker import our_broker
from conformance.our_registry import our_registry

DOWN_S = 30
_PATIENCE_S = 60
_BRIEF_S = 3.0


class Writer:
    """Registers one schema after the other, wherever it is answered."""

    def __init__(self, name: str, urls: list[str]) -> None:
        self._name = name
        self._urls = urls
        self._is_over = threading.Event()
        self.answered: dict[int, str] = {}
        self.twice: list[int] = []
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def _run(self) -> None:
        number = 0
        while not self._is_over.is_set():
            text = f'{{"type":"fixed","name":"{self._name}{number}","size":1}}'
            url = self._urls[number % len(self._urls)]
            try:
                body = ask(f"{url}/subjects/{self._name}{number}/versions", {"schema": text})
            except (OSError, ValueError, http.client.HTTPException):
                # The last one: a registry was killed between the head of its answer and the body.
                self._is_over.wait(0.05)
            else:
                assert isinstance(body, dict)
                if body["id"] in self.answered:
                    self.twice.append(body["id"])
                self.answered[body["id"]] = text
            number += 1

    def wait_for_more(self, count: int = 5) -> None:
        """Until so many more were answered."""
        deadline, wanted = time.monotonic() + _PATIENCE_S, len(self.answered) + count
        while len(self.answered) < wanted:
            assert time.monotonic() < deadline, "nothing is registered any more"
            time.sleep(0.05)

    def end(self) -> None:
        self._is_over.set()
        self._thread.join()


def ask(url: str, body: object = None) -> object:
    data = None if body is None else json.dumps(body).encode()
    headers = {"Content-Type": "application/json"}
    request = urllib.request.Request(url, data, headers)
    with urllib.request.urlopen(request, timeout=_PATIENCE_S) as answer:
        found: object = json.load(answer)
        return found


@pytest.mark.timeout(240)
def test_no_id_is_given_twice_and_none_that_was_answered_is_lost(tmp_path: Path) -> None:
    with our_broker(tmp_path, {"group.initial.rebalance.delay.ms": "0"}) as broker:
        with our_registry(broker, dies=True) as one, our_registry(broker) as other:
            writers = [Writer(name, [one.url, other.url]) for name in "ab"]
            try:
                for writer in writers:
                    writer.wait_for_more()
                one.kill()
                writers[0].wait_for_more()
                broker.kill()
                time.sleep(DOWN_S)
                known = next(iter(writers[0].answered))
                began = time.monotonic()
                assert ask(f"{other.url}/schemas/ids/{known}"), "reads go on without a broker"
                assert time.monotonic() - began < _BRIEF_S
                broker.start()
                for writer in writers:
                    writer.wait_for_more()
            finally:
                for writer in writers:
                    writer.end()
        first, second = (writer.answered for writer in writers)
        assert not set(first) & set(second)
        assert not writers[0].twice
        assert not writers[1].twice
        with our_registry(broker) as again:
            for schema_id, text in {**first, **second}.items():
                assert ask(f"{again.url}/schemas/ids/{schema_id}") == {"schema": text}
