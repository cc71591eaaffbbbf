"""A real browser for tests: Chromium, spoken to through a pair of pipes.

The DevTools protocol over pipes needs no package and no port: requests and events are JSON,
each ended by a zero byte.
"""

import base64
import itertools
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

PROGRAMS = ("chromium", "chromium-browser", "google-chrome")
WAIT_S = 40.0
_FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
    *("--remote-debugging-pipe", "--hide-scrollbars", "--force-device-scale-factor=1"),
)
# The browser reads from descriptor 3 and writes to 4, which may be taken by the ends themselves.
_LAUNCH = """
import fcntl, os, sys
ends = [fcntl.fcntl(int(each), fcntl.F_DUPFD, 10) for each in sys.argv[1:3]]
os.dup2(ends[0], 3)
os.dup2(ends[1], 4)
os.execv(sys.argv[3], sys.argv[3:])
"""


class Page:
    """One tab."""

    def __init__(self, read: int, write: int) -> None:
        self._read, self._write = read, write
        self._numbers = itertools.count(1)
        self._buffer = b""
        self.events: list[dict[str, Any]] = []
        target = self._ask("Target.createTarget", {"url": "about:blank"})["targetId"]
        attached = self._ask("Target.attachToTarget", {"targetId": target, "flatten": True})
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.send(f"{domain}.enable")

    def send(self, method: str, **parameters: object) -> dict[str, Any]:
        """One request of the protocol to this tab."""
        return self._ask(method, parameters, self._session)

    def _ask(
        self, method: str, parameters: dict[str, Any], session: str | None = None
    ) -> dict[str, Any]:
        number = next(self._numbers)
        request = {"id": number, "method": method, "params": parameters}
        if session is not None:
            request["sessionId"] = session
        os.write(self._write, json.dumps(request).encode() + b"\0")
        while True:
            message = self._receive()
            if message.get("id") == number:
                assert "error" not in message, f"{method}: {message['error']}"
                found: dict[str, Any] = message["result"]
                return found
            self.events.append(message)

    def _receive(self) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            piece = os.read(self._read, 1 << 20)
            assert piece, "the browser has gone"
            self._buffer += piece
        text, _, self._buffer = self._buffer.partition(b"\0")
        found: dict[str, Any] = json.loads(text)
        return found

    def open(self, url: str) -> None:
        """Go there."""
        self.send("Page.navigate", url=url)

    def run(self, script: str) -> Any:
        """The value of an expression; promises are awaited."""
        answer = self.send(
            "Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True
        )
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def wait(self, script: str, what: str = "") -> Any:
        """Wait until an expression is true."""
        deadline = time.monotonic() + WAIT_S
        while time.monotonic() < deadline:
            found = self.run(
                f"(() => {{ try {{ return !!({script}) }} catch (e) {{ return false }} }})()"
            )
            if found:
                return found
            time.sleep(0.05)
        raise AssertionError(f"{what or script} did not come about: {self.text()[:2000]}")

    def text(self) -> str:
        """What the page says."""
        return str(self.run("document.body.innerText"))

    def see(self, text: str) -> None:
        """Wait for a text."""
        self.wait(f"document.body.innerText.includes({json.dumps(text)})", text)

    def click(self, text: str, kind: str = "a, button, summary") -> None:
        """Click the first of these elements that says this."""
        find = (
            f"[...document.querySelectorAll({json.dumps(kind)})]"
            f".find(each => each.innerText.trim().startsWith({json.dumps(text)}))"
        )
        self.wait(f"({find}) && ({find}.click(), true)", f"a {kind} {text!r}")

    def fill(self, selector: str, text: str) -> None:
        """Type into an input, in place of what is there."""
        self.wait(f"document.querySelector({json.dumps(selector)})", selector)
        self.run(f"document.querySelector({json.dumps(selector)}).select?.()")
        self.run(f"document.querySelector({json.dumps(selector)}).focus()")
        self.run(
            f"(() => {{ const input = document.querySelector({json.dumps(selector)});"
            f"const kind = Object.getPrototypeOf(input);"
            f"Object.getOwnPropertyDescriptor(kind, 'value').set.call(input, {json.dumps(text)});"
            "input.dispatchEvent(new Event('input', {bubbles: true}));"
            "input.dispatchEvent(new Event('change', {bubbles: true})) })()"
        )

    def press(self, key: str, *, control: bool = False) -> None:
        """Press a key."""
        modifiers = 2 if control else 0
        text = key if len(key) == 1 and not control else ("\r" if key == "Enter" else "")
        codes = {"Enter": 13, "Escape": 27, "ArrowDown": 40, "ArrowUp": 38}
        common = {
            "key": key,
            "modifiers": modifiers,
            "windowsVirtualKeyCode": codes.get(key, ord(key[0].upper())),
        }
        self.send("Input.dispatchKeyEvent", type="keyDown", text=text, **common)
        self.send("Input.dispatchKeyEvent", type="keyUp", **common)

    def resize(self, width: int, height: int) -> None:
        """Another size of window."""
        self.send(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )

    def screenshot(self, path: Path) -> None:
        """A picture of what can be seen."""
        data = self.send("Page.captureScreenshot", format="png")["data"]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(base64.b64decode(data))

    def complaints(self) -> list[str]:
        """Errors that the browser has reported: exceptions, refused files, broken policies."""
        self.run("1")
        found = []
        for event in self.events:
            given = event.get("params", {})
            if event.get("method") == "Runtime.exceptionThrown":
                found.append(str(given["exceptionDetails"]))
            elif event.get("method") == "Log.entryAdded" and given["entry"]["level"] == "error":
                found.append(f"{given['entry']['text']} {given['entry'].get('url', '')}")
        return found

    def hosts(self) -> set[str]:
        """Every address that a request went to."""
        return {
            event["params"]["request"]["url"]
            for event in self.events
            if event.get("method") == "Network.requestWillBeSent"
        }


@contextmanager
def browser() -> Iterator[Page]:
    """A browser with one tab, and a profile that goes with it."""
    program = next(found for name in PROGRAMS if (found := shutil.which(name)))
    to_browser, ours = os.pipe()
    from_ours, from_browser = os.pipe()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        ends = (str(to_browser), str(from_browser))
        process = subprocess.Popen(
            [sys.executable, "-c", _LAUNCH, *ends, program, *_FLAGS, f"--user-data-dir={profile}"],
            pass_fds=(to_browser, from_browser),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(to_browser)
        os.close(from_browser)
        try:
            page = Page(from_ours, ours)
            page.resize(1280, 800)
            yield page
        finally:
            process.kill()
            process.wait()
            os.close(ours)
            os.close(from_ours)
