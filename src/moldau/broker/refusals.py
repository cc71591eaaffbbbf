"""The error response of an API that has one error code for all of it."""

from collections.abc import Callable, Coroutine
from typing import Any

from moldau.broker.context import Context
from moldau.errors import KafkaError
from moldau.net.answer import CloseConnection
from moldau.protocol.apis import Api
from moldau.protocol.schema import fields_of

Refuse = Callable[[Any, Context, KafkaError], Coroutine[Any, Any, object]]


def refuser_of(api: Api) -> Refuse:
    """What refuses the requests of an API as a whole, unless its handler does."""
    fields = {field.name: field for field in fields_of(api.response)}

    async def refuse(_request: Any, _context: Context, error: KafkaError) -> object:
        if "error_code" not in fields:
            raise CloseConnection(f"{api.name} failed: {error.code.name}")
        values = {name: [] if field.is_array else field.default for name, field in fields.items()}
        values["error_code"] = error.code
        if "error_message" in fields:
            values["error_message"] = str(error)
        return api.response(**values)

    return refuse
