"""Settings as one listener has them: with its own prefix, or as they are for all."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from moldau.config.broker.broker import broker_settings
from moldau.config.rules import Value


@dataclass(frozen=True, slots=True)
class ListenerSettings:
    """What a listener looks up among the broker's settings, given as texts (see KIP-103).

    `listener.name.<listener>.<mechanism>.<setting>` counts before
    `listener.name.<listener>.<setting>`, and that before `<setting>`.
    """

    texts: Mapping[str, str] = field(repr=False)
    listener_name: str

    def text(self, setting: str, mechanism: str | None = None) -> str | None:
        """What was given; None if nothing was."""
        name = next((one for one in self._names(setting, mechanism) if one in self.texts), None)
        return None if name is None else self.texts[name]

    def own_text(self, setting: str, mechanism: str | None = None) -> str | None:
        """What was given for this listener, or for this mechanism on it, alone."""
        *own, _ = self._names(setting, mechanism)
        name = next((one for one in own if one in self.texts), None)
        return None if name is None else self.texts[name]

    def value(self, setting: str, mechanism: str | None = None) -> Value:
        """The value of a declared setting, its default if nothing was given.

        InvalidConfig if the setting does not allow it.
        """
        declared = broker_settings()[setting]
        text = self.text(setting, mechanism)
        return declared.default if text is None else declared.parse(text)

    def own_name(self, setting: str, mechanism: str | None = None) -> str:
        """The name that sets it for this listener, or for this mechanism on it, alone."""
        return next(self._names(setting, mechanism))

    def _names(self, setting: str, mechanism: str | None) -> Iterator[str]:
        """Where to look, strongest first."""
        prefix = f"listener.name.{self.listener_name.lower()}."
        if mechanism is not None:
            yield f"{prefix}{mechanism.lower()}.{setting}"
        yield f"{prefix}{setting}"
        yield setting
