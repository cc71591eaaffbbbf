"""What goes wrong in connectors, by Connect's names."""


class ConnectError(Exception):
    """A connector or the worker cannot go on."""

    java_class = "org.apache.kafka.connect.errors.ConnectException"
    """How dead letters and traces name it, since tools look for these names."""


class DataError(ConnectError):
    """A record that does not fit: it can be left out, or sent to the dead letter queue."""

    java_class = "org.apache.kafka.connect.errors.DataException"


class SchemaError(DataError):
    """A value that is none of its schema."""

    java_class = "org.apache.kafka.connect.errors.SchemaBuilderException"


class RetriableConnectError(ConnectError):
    """The same attempt may succeed later."""

    java_class = "org.apache.kafka.connect.errors.RetriableException"


class CommitLost(RetriableConnectError):
    """Somebody else changed a table first: what is there now has to be looked at anew."""


class ConfigError(ConnectError):
    """Settings with which nothing can be started."""

    java_class = "org.apache.kafka.common.config.ConfigException"


def java_class_of(error: BaseException) -> str:
    """The name under which Connect's tools know an error."""
    if isinstance(error, ConnectError):
        return error.java_class
    return f"{type(error).__module__}.{type(error).__qualname__}"
