"""Writes tests/unit/broker/login/apache-3.9-logins.jsonl anew, from Apache Kafka 3.9.

PYTHONPATH=src:tests bin/python -m conformance.record_logins
"""

import json
import tempfile
from pathlib import Path

from conformance.apache.broker import apache_broker, free_port
from unit.broker.login.login_talks import PLAIN, RECORDED, SASL, SHORT, answers, settings, talks


def main() -> None:
    with tempfile.TemporaryDirectory() as directory, apache_broker(Path(directory)) as broker:
        ports = {PLAIN: broker.port, SASL: free_port(), SHORT: free_port()}
        listeners = (f"{name}://127.0.0.1:{port}" for name, port in ports.items())
        broker.settings = settings(",".join(listeners))
        broker.start()
        rows = []
        for name, listener, frames in talks():
            rows.append({"talk": name, "answers": answers(ports[listener], frames)})
            print(rows[-1])
    RECORDED.write_text("".join(f"{json.dumps(row)}\n" for row in rows))


if __name__ == "__main__":
    main()
