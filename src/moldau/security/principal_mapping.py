"""Names of users from those of their certificates: `ssl.principal.mapping.rules`."""

import re
from dataclasses import dataclass

from moldau.config.values import config_error
from moldau.security.java_patterns import JavaPattern, PatternError, Spans

SETTING = "ssl.principal.mapping.rules"
# A certificate may be a megabyte, and all of it its name.
_NAME_MAX = 1_024
_RULE = r"(DEFAULT)|RULE:((?:\\.|[^\\/])*)/((?:\\.|[^\\/])*)/([LU]?).*?|(.*?)"
_SPLITTER = re.compile(rf"\s*({_RULE})\s*(?:,\s*|$)")
_PARSER = re.compile(_RULE)


@dataclass(frozen=True, slots=True)
class _Rule:
    """The first that fits counts; without a pattern it fits all, and changes nothing."""

    pattern: JavaPattern | None = None
    replacement: str = ""
    change: str = ""
    """L or U: to lower or to upper case."""

    def apply(self, name: str) -> str | None:
        if self.pattern is None:
            return name
        if not self.pattern.matches(name):
            return None
        made = self._replace_all(self.pattern, name)
        if self.change == "L":
            return made.lower()
        return made.upper() if self.change == "U" else made

    def _replace_all(self, pattern: JavaPattern, name: str) -> str:
        """As Java's replaceAll: where the pattern fits part of the name, the rest stays."""
        made, position, start = [], 0, 0
        while start <= len(name):
            spans = pattern.find(name, start)
            if spans is None:
                break
            made += [name[position : spans[0]], self._replacement_for(pattern, name, spans)]
            position = spans[1]
            start = position + (spans[0] == position)
        return "".join((*made, name[position:]))

    def _replacement_for(self, pattern: JavaPattern, name: str, spans: Spans) -> str:
        def group(index: int) -> str:
            return name[spans[2 * index] : spans[2 * index + 1]] if spans[2 * index] >= 0 else ""

        def made(match: re.Match[str]) -> str:
            escaped, named, digits = match.groups()
            if escaped is not None:
                return str(escaped)
            if named is not None:
                return group(pattern.group_names[named])
            # As many digits as there are groups for; a group that is not there stays literal.
            for size in range(len(digits), 0, -1):
                if int(digits[:size]) <= pattern.group_count:
                    return group(int(digits[:size])) + digits[size:]
            return match[0]

        return _REFERENCE.sub(made, self.replacement)


_REFERENCE = re.compile(r"\\(.)|\$\{([a-zA-Z][a-zA-Z0-9]*)\}|\$(\d{1,9})")


@dataclass(frozen=True, slots=True)
class PrincipalMapping:
    """Rules, in their order."""

    rules: tuple[_Rule, ...]

    def name_of(self, distinguished_name: str) -> str:
        """The user's name; PermissionError if no rule has one."""
        if len(distinguished_name) > _NAME_MAX:
            raise PermissionError("the name in the certificate is too long")
        for rule in self.rules:
            name = rule.apply(distinguished_name)
            if name is not None:
                return name
        raise PermissionError(f"no rule of {SETTING} applies to {distinguished_name!r}")


def read_mapping(text: str) -> PrincipalMapping:
    """The rules that the setting has; InvalidConfig says what is wrong with them."""
    written = [match[1] for match in _SPLITTER.finditer(text.strip() or "DEFAULT")]
    return PrincipalMapping(tuple(_read(one) for one in written if one))


def _read(text: str) -> _Rule:
    match = _PARSER.match(text)
    if match is None or match.end() != len(text):
        raise config_error(
            f"{SETTING}: {text} is no rule: write DEFAULT or RULE:pattern/replacement/, "
            "with L or U behind it for lower or upper case"
        )
    if match[1] is not None:
        return _Rule()
    try:
        pattern = JavaPattern(match[2])
    except PatternError as error:
        raise config_error(f"{SETTING}: {text}: {error}") from error
    for reference in _REFERENCE.finditer(match[3]):
        if reference[2] is not None and reference[2] not in pattern.group_names:
            raise config_error(f"{SETTING}: {text}: there is no group {reference[2]}")
    return _Rule(pattern, match[3], match[4])
