"""Secrets among the broker's settings in the tree, which has them encrypted."""

import logging
from collections.abc import Mapping

from moldau.config.broker.dynamic import find_broker_setting
from moldau.config.broker.security import SecurityConfig
from moldau.errors import ErrorCode, KafkaError
from moldau.runtime.threads import in_thread
from moldau.security.password_encoder import PasswordEncoder

_log = logging.getLogger(__name__)


class StoredSecrets:
    """Encodes and decodes them by `password.encoder.secret`."""

    def __init__(self, config: SecurityConfig) -> None:
        """InvalidConfig for an algorithm that is not known."""
        secret, old = config.password_encoder_secret, config.password_encoder_old_secret
        self._encoder = None if secret is None else _encoder(config, secret.reveal())
        self._old = None if old is None else _encoder(config, old.reveal())
        self.is_renewal_due = False
        """Whether something was encoded with the old secret."""

    def require(self, settings: Mapping[str, str]) -> None:
        """Raise INVALID_CONFIG if there are secrets that could not be stored."""
        if self._encoder is None and any(map(is_secret, settings)):
            raise KafkaError(ErrorCode.INVALID_CONFIG, "Password encoder secret not configured")

    async def encoded(self, settings: Mapping[str, str]) -> Mapping[str, str]:
        """As the tree keeps them."""
        self.require(settings)
        encoder = self._encoder
        if encoder is None or not any(map(is_secret, settings)):
            return settings
        return await in_thread(
            lambda: {
                name: encoder.encode(text) if is_secret(name) else text
                for name, text in settings.items()
            }
        )

    async def decoded(self, settings: dict[str, str]) -> dict[str, str]:
        """As the broker uses them; a secret that cannot be read is logged and left out."""
        if not any(map(is_secret, settings)):
            return settings
        return await in_thread(lambda: self._decode_all(settings))

    def _decode_all(self, settings: dict[str, str]) -> dict[str, str]:
        decoded = {}
        for name, text in settings.items():
            try:
                decoded[name] = self._decode(text) if is_secret(name) else text
            except ValueError as error:
                _log.error(
                    "Failed to decode the stored value of %s, which is ignored: %s", name, error
                )
        return decoded

    def _decode(self, text: str) -> str:
        if self._encoder is None:
            raise ValueError("password.encoder.secret is not set")
        try:
            return self._encoder.decode(text)
        except ValueError:
            if self._old is None:
                raise
            password = self._old.decode(text)
            self.is_renewal_due = True
            return password


def is_secret(name: str) -> bool:
    """Whether the setting of this name is known and is not to be read by others."""
    setting = find_broker_setting(name)
    return setting is not None and setting.is_sensitive


def _encoder(config: SecurityConfig, secret: str) -> PasswordEncoder:
    given = {"key_factory": config.password_encoder_keyfactory_algorithm}
    return PasswordEncoder(
        secret=secret,
        cipher=config.password_encoder_cipher_algorithm,
        key_bits=config.password_encoder_key_length,
        iterations=config.password_encoder_iterations,
        **{name: value for name, value in given.items() if value},
    )
