"""What `bin/wheels` asks of an installation: kernels, a broker, and Kafka's scripts in PATH."""

import os
import platform
import re
import subprocess
import sys
import tempfile
from importlib import import_module

LINES = b"one\ntwo\nthree\n"


def has_kernels() -> bool:
    """Whether the kernel of record batches was compiled."""
    try:
        import_module("moldau.records._kernel")
    except ImportError:
        return False
    return True


def use_broker(data: str) -> None:
    """Start a broker by Kafka's script, and write and read lines by Kafka's scripts."""
    command = ["kafka-server-start.sh", "--port", "0", "--data", data]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as broker:
        try:
            assert broker.stderr is not None
            found = (re.search(r"listening on port (\d+)", line) for line in broker.stderr)
            port = next(match[1] for match in found if match)
            server = ["--bootstrap-server", f"localhost:{port}", "--topic", "orders"]
            subprocess.run(
                ["kafka-topics.sh", "--create", *server], check=True, capture_output=True
            )
            producer = ["kafka-console-producer.sh", *server]
            subprocess.run(producer, input=LINES, check=True, capture_output=True)
            reading = ["--from-beginning", "--max-messages", "3"]
            consumer = ["kafka-console-consumer.sh", *server, *reading]
            read = subprocess.run(consumer, check=True, capture_output=True).stdout
            assert read == LINES, read
            broker.terminate()
            broker.stderr.read()
            assert broker.wait(30) == 0
        finally:
            broker.kill()


def main() -> None:
    is_compiled = has_kernels()
    assert is_compiled == (sys.argv[1] == "compiled"), f"kernels: {is_compiled}"
    init = ["moldau", "init", "--to"]
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([*init, folder], check=True, capture_output=True)
        assert os.listdir(folder) == ["server.properties"]
    with tempfile.TemporaryDirectory() as folder:
        use_broker(folder)
    version = subprocess.run(["moldau", "--version"], check=True, capture_output=True, text=True)
    kind = "compiled" if is_compiled else "without kernels"
    print(f"{version.stdout.strip()} on Python {platform.python_version()}, {kind}")


if __name__ == "__main__":
    main()
