"""Settings that this broker knows but cannot honour yet, and so refuses to start with.

Each of them protects something; to start without it would be to leave it open.
"""

from moldau.config.broker.startup import Startup
from moldau.config.listeners import SecurityProtocol
from moldau.config.values import config_error


def refuse_unsupported(startup: Startup) -> None:
    """Raise InvalidConfig for the first such setting."""
    config = startup.config
    if config.security.authorizer_class_name:
        raise config_error(
            "authorizer.class.name: authorisation is not available yet; remove the setting to "
            "let everyone do everything, which is what would happen"
        )
    for listener in startup.listeners.bound:
        if listener.protocol is not SecurityProtocol.PLAINTEXT:
            raise config_error(
                f"listeners: {listener} needs {listener.protocol.name}, which is not available "
                "yet; use PLAINTEXT"
            )
    if not config.is_standalone:
        raise config_error(
            "zookeeper.connect: clusters are not available yet; remove the setting to start a "
            "single broker on its embedded store"
        )
