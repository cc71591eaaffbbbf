"""The lines that brokers log, each with the broker that it is from."""

import json


def marked(line: str, broker_id: int) -> str:
    """A line as the one log has it; a line of JSON has the broker as one more field."""
    if line.startswith("{"):
        try:
            fields = json.loads(line)
        except ValueError:
            fields = None
        if isinstance(fields, dict):
            return json.dumps({**fields, "broker": broker_id}, ensure_ascii=False)
    return f"[broker {broker_id}] {line}"
