"""Secrets in text, taken out by the shape of their values. Pure; every line stays where it is.

Three kinds: values with a shape of their own (`secret_shapes`), private key blocks (`private_keys`), and values that stand
behind a name like `api_key` and look random. Time grows with the length of the text alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from live_memory.text.private_keys import may_hold_a_key, without_keys
from live_memory.text.randomness import is_password, is_placeholder, is_random, is_signed_password
from live_memory.text.secret_shapes import BEARERS, TOKENS, WORTH_A_LOOK

# Names whose value is looked at, by their last word; `key` alone names anything, so it needs a word in front.
_NAME_ROOTS = (b"secret", b"token", b"passw", b"passphrase", b"pass", b"pwd", b"credential", b"key", b"auth")
_PASSWORD_ROOTS = (b"passw", b"passphrase", b"pass", b"pwd")
_WHOLE_WORDS = (b"auth", b"pass")  # with nothing behind them, and no letter before that belongs to them
_KEY_OWNER = re.compile(
    r"(?:api|access|private|secret|account|auth|signing|encryption|encrypt|master|shared|storage|service|app|admin|deploy"
    r"|webhook|license|subscription|client|consumer|session|jwt|hmac|aes|host|function|publishable|server"
    r"|fernet|crypto|cipher|vault|signature|stripe|openai|azure|ssh|tls|ssl|rsa|vapid|push|mail)[ _.-]?\Z",
    re.IGNORECASE,
)
_OWNER_CHARS = 14
_PUBLIC = re.compile(r"public[ _.-]?key[ _.-]?\Z", re.IGNORECASE)  # whose token is a hash for all to see
_SEPARATOR = r"(?:=>|:=|={1,3}|[:>]|(?P<loose>\(|\|\|?|\?\?|or\b|(?<=[\"']),)|\bvalue[ \t]{0,2}=|[ \t\"']{0,2}[\n ][ \t+>#/-]{0,40}[\"']?value[\"']?[ \t]{0,2}:|(?<=[ \t])(?:is|was)[ \t:])"
_BARE_CHARS = r"[^\s\"'`;,(){}\[\]<>\\&|]"
_QUOTED_CHARS = r"[^\"'`\\\s]"
_VALUE = (
    rf"(?:[rbuf]{{0,2}}(?P<quote>\\{{0,2}}[\"'`])(?P<quoted>{_QUOTED_CHARS}{{8,512}})(?P=quote)"
    rf"|(?P<bare>{_BARE_CHARS}{{8,512}})(?=[\s\"'`;,)}}\]<>\\&|]|\Z)"
    rf"|(?:[rbuf]{{0,2}}\\{{0,2}}[\"'`])?(?P<long>[A-Za-z0-9+/_.~%-]{{512}}))"
)
_ASSIGNMENT = re.compile(
    r"(?P<name>[A-Za-z0-9_-]{2,40})"
    r"(?:\\{0,2}[\"'\]]){0,2}[ \t]{0,8}"
    r"(?::[ \t]{0,3}[A-Za-z&'][\w&'|<>.\[\]]{0,40}[ \t]{0,3}(?==))?"  # a type between name and value
    + _SEPARATOR
    + r"[ \t]{0,8}(?:\*{2}[ \t])?\[?[ \t]{0,2}"
    + _VALUE
)
# On a command line, in a Dockerfile and in a C header a space parts name and value; where that is in quotes, anywhere.
_SPACED = re.compile(r"(?P<name>[A-Za-z0-9_-]{2,40})[ \t]{1,4}" + _VALUE)
_SPACED_FRONT = re.compile(r"(?:(?<![\w-])--[A-Za-z0-9_-]{0,40}|(?:\bENV|#define)[ \t]{1,8}\w{0,40})\Z")
_SPACED_FRONT_CHARS = 52
CONTEXT_LINES = 2  # a value may stand on the line after its name
JUDGED_CHARS = 64  # of a value: what is random is so from its beginning on
_LONG_VALUE = re.compile(r"[A-Za-z0-9+/=_.~%-]*+")
_HARMLESS_NAME = re.compile(
    r"(?:url|uri|path|name|field|type|regex|pattern|label|hint|placeholder|error|message|msg|file|dir|folder|header|prefix"
    r"|suffix|len|length|min|max|policy|expir\w*|count|ttl|endpoint|env|var|param|query|column|arn|ref|version|algorithm"
    r"|hash|sha\d*|md5|digest|checksum|izer\w*|iz\w*|ary|format|class|text|title|icon|selector|map|list|index|limit"
    r"|budget|usage|board|word|press|store|point|frame|code|event|up|down)s?\Z",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Cleaned:
    """A text without its secrets, and how many were taken out."""

    text: str
    count: int = 0


def redact(text: str) -> str:
    """`text` with each secret in it replaced by `[redacted: kind]`; as many lines as before."""
    return cleaned(text).text


def cleaned(text: str) -> Cleaned:
    """As `redact`, with the number of secrets."""
    if not may_hold_a_key(text):
        return _without_values(text)
    lines, keys = without_keys(text.split("\n"))
    rest = _without_values("\n".join(lines))
    return Cleaned(rest.text, keys + rest.count)


def cleaned_lines(lines: Sequence[str], start: int, end: int) -> Cleaned:
    """`lines[start:end]` as one text, key blocks and names recognised that stand before `start`; keys outside of it count as well."""
    first = max(0, start - CONTEXT_LINES)
    shown, keys = list(lines[first:end]), 0
    if any(may_hold_a_key(line) for line in lines[:end]):
        whole, keys = without_keys(lines[:end])
        shown = whole[first:]
    before = _without_values("\n".join(shown[: start - first]))
    rest = _without_values("\n".join(shown))
    text = rest.text.split("\n", start - first)[-1]
    return Cleaned(text, max(0, keys + rest.count - before.count))


def _without_values(text: str) -> Cleaned:
    spans = sorted(_found(text))
    if not spans:
        return Cleaned(text)
    parts: list[str] = []
    done = count = 0
    for start, end, kind in spans:
        if start < done:
            continue
        parts += [text[done:start], f"[redacted: {kind}]"]
        done = end
        count += 1
    return Cleaned("".join([*parts, text[done:]]), count)


def _found(text: str) -> Iterator[tuple[int, int, str]]:
    """Where the secrets are, and what they are; the spans may overlap."""
    for token in TOKENS:
        for match in token.matches(text):
            if "EXAMPLE" not in match[0] and not _is_monotone(match[0]):
                yield (*_secret_span(match), token.kind)
    for token in WORTH_A_LOOK:
        yield from ((*m.span(1), token.kind) for m in token.matches(text) if not is_placeholder(m[1]))
    for token in BEARERS:
        yield from ((*m.span(1), token.kind) for m in token.matches(text) if is_random(m[1]))
    yield from _assigned(text)


def _secret_span(match: re.Match[str]) -> tuple[int, int]:
    return match.span(1 if match.re.groups else 0)


def _is_monotone(value: str) -> bool:
    """Whether the value's tail is one character over and over, as in documentation."""
    tail = value[-12:]
    return len(set(tail)) <= 2  # noqa: PLR2004  # `xxxx`, `x.x.`


def _assigned(text: str) -> Iterator[tuple[int, int, str]]:
    # One byte a character, so that positions agree; `lower` on the text itself may change its length.
    folded = text.encode("ascii", "replace").lower()
    for root in _NAME_ROOTS:
        kind = "password" if root in _PASSWORD_ROOTS else "secret"
        at = folded.find(root)
        done = 0  # the end of the last long value: what stands inside of it is part of it
        while at >= 0:
            match = _assignment(text, at, root) if at >= done else None
            if match and _names_a_secret(match, root) and _is_secret_value(match, root):
                start, end = match.span(match.lastgroup or 0)
                if match["long"]:
                    end = done = _end_of_long(text, end)
                yield start, end, kind
            at = folded.find(root, at + len(root))


def _assignment(text: str, at: int, root: bytes) -> re.Match[str] | None:
    if not _may_name_a_secret(text, at, root):
        return None
    if match := _ASSIGNMENT.match(text, at):
        return match
    spaced = _SPACED.match(text, at)
    if spaced and not _SPACED_FRONT.search(text, max(0, at - _SPACED_FRONT_CHARS), at):
        return spaced if spaced["quoted"] and is_random(spaced["quoted"]) else None
    return spaced


def _end_of_long(text: str, end: int) -> int:
    match = _LONG_VALUE.match(text, end)
    return match.end() if match else end


def _may_name_a_secret(text: str, at: int, root: bytes) -> bool:
    if root in _WHOLE_WORDS:
        return text[at].isupper() or not text[max(0, at - 1) : at].isalpha()
    if root == b"token":
        return not _PUBLIC.search(text[max(0, at - _OWNER_CHARS) : at])
    return root != b"key" or _KEY_OWNER.search(text[max(0, at - _OWNER_CHARS) : at]) is not None


def _names_a_secret(match: re.Match[str], root: bytes) -> bool:
    rest = match["name"][len(root) :]
    if root in _WHOLE_WORDS:
        return not rest
    return not _HARMLESS_NAME.search(rest.removeprefix("ord").removeprefix("d") if root == b"passw" else rest)


def _is_secret_value(match: re.Match[str], root: bytes) -> bool:
    value = match["quoted"] or match["bare"] or match["long"]
    is_loose = bool(match.groupdict().get("loose"))  # an argument or a default: in quotes, or no value
    if is_loose and not match["quoted"]:
        return False
    is_like_one = is_password if match["quoted"] and not is_loose else is_signed_password
    if root in _PASSWORD_ROOTS and is_like_one(value):
        return True
    return is_random(value[:JUDGED_CHARS])
