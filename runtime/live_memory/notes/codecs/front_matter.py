"""The block of named values at the head of a Markdown file: what we write is YAML, and what others write of YAML there is
read without a library for it: texts in every style, lists, and one level of names below a name. Pure.

Nothing is raised, whatever the text: what is no YAML of that kind is text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

Value: TypeAlias = "str | tuple[str, ...] | Mapping[str, str]"

MARK = "---"
_NAME = re.compile(r"([A-Za-z_][\w .-]{0,60}?)\s*:(?:[ \t]+(.*)|[ \t]*)$", re.DOTALL)
_ITEM = re.compile(r"[ \t]*-[ \t]+(.*)$", re.DOTALL)
_FLOW_ITEM = re.compile(r'\s*(?:"(?:[^"\\]|\\.)*"|\'(?:[^\']|\'\')*\')|[^,]+')
_PLAIN = re.compile(r"[A-Za-z][\w./@+-]*(?: [\w./@+-]+)*", re.ASCII)
_WORDS_OF_YAML = frozenset({"true", "false", "null", "yes", "no", "on", "off", "y", "n"})
_STAMP = re.compile(r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?Z")
_UNPRINTABLE = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ud800-\udfff\ufffe\uffff]")
_BLOCK = re.compile(r"([|>])([+-]?)\d?([+-]?)(?:\s+#.*)?$")
_FOLD = re.compile(r"(\n+)")
_COMMENT = re.compile(r"(?<!\s)\s+#.*$")
_ESCAPE = re.compile(r"\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U0{2}([0-9a-fA-F]{6})|(.))", re.DOTALL)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "0": "\0", "e": "\x1b", "a": "\a", "b": "\b", "f": "\f", "v": "\v"}
_LAST_CHARACTER = 0x10FFFF


@dataclass(frozen=True, slots=True)
class Page:
    """`named` is empty and the body all of the text where no front matter leads it."""

    named: Mapping[str, Value]
    body: str


def written(named: Mapping[str, Value], body: str) -> str:
    """The page, ending in one line end more than `body`; names without a value are left out."""
    lines = [f"{name}: {_written(value)}" for name, value in named.items() if value]
    return "\n".join([MARK, *lines, MARK, body, ""])


def read(text: str) -> Page:
    """The page in `text`; its lines may all end in CR LF."""
    text = text.removeprefix("\ufeff")
    if text.startswith(MARK + "\r\n"):
        text = text.replace("\r\n", "\n")
    if not text.startswith(MARK + "\n"):
        return Page({}, text)
    lines = text.split("\n")
    ends = [at for at, line in enumerate(lines[1:], 1) if line.rstrip() in (MARK, "...")][:1]
    if not ends:
        return Page({}, text)
    body = "\n".join(lines[ends[0] + 1 :])
    return Page(_read(lines[1 : ends[0]]), body.removesuffix("\n"))


def text_of(value: Value | None) -> str:
    """A value where one text is wanted."""
    if isinstance(value, str):
        return value
    return ", ".join(value) if isinstance(value, tuple) else ""


def texts_of(value: Value | None) -> tuple[str, ...]:
    """A value where a list is wanted: a text is its parts between commas."""
    if isinstance(value, tuple):
        return value
    return tuple(part.strip() for part in text_of(value).split(",") if part.strip())


def _written(value: Value) -> str:
    if isinstance(value, str):
        is_plain = _PLAIN.fullmatch(value) and value.lower() not in _WORDS_OF_YAML
        return value if is_plain or _STAMP.fullmatch(value) else _json(value)
    return _json(list(value) if isinstance(value, tuple) else dict(value))


def _json(value: object) -> str:
    """JSON that YAML reads too: it forbids some characters that JSON does not."""
    text = json.dumps(value, ensure_ascii=False)
    return _UNPRINTABLE.sub(lambda match: f"\\u{ord(match.group()):04x}", text)


def _read(lines: Sequence[str]) -> dict[str, Value]:
    found: dict[str, Value] = {}
    at = 0
    while at < len(lines):
        match = _NAME.match(lines[at]) if not lines[at][:1].isspace() else None
        at += 1
        if match is None:
            continue
        below = at
        while below < len(lines) and (not lines[below].strip() or lines[below][0] in " \t" or _is_item(lines[below])):
            below += 1
        found[match[1].strip()] = _value((match[2] or "").strip(), lines[at:below])
        at = below
    return found


def _is_item(line: str) -> bool:
    return _ITEM.match(line) is not None


def _value(inline: str, below: Sequence[str]) -> Value:
    block = _BLOCK.match(inline)
    if block is not None:
        return _block_text(block[1], block[2] or block[3], below)
    filled = [line for line in below if line.strip() and not line.lstrip().startswith("#")]
    if _COMMENT.sub("", f" {inline}").strip():
        return _inline(" ".join([inline, *(line.strip() for line in filled)]))
    items = [match[1] for match in map(_ITEM.match, filled) if match]
    if items:
        return tuple(_scalar(item.strip()) for item in items)
    pairs = [match for match in (_NAME.match(line.strip()) for line in filled) if match]
    if pairs:
        return {match[1]: _scalar((match[2] or "").strip()) for match in pairs}
    return " ".join(_scalar(line.strip()) for line in filled)


def _inline(text: str) -> Value:
    """A value on its line: JSON, a list without quotes, or a text."""
    if text[0] not in "[{":
        return _scalar(text)
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        items = (match.group().strip() for match in _FLOW_ITEM.finditer(text.rstrip().removesuffix("]"), 1))
        return tuple(_scalar(item) for item in items if item) if text[0] == "[" else text
    if isinstance(value, list):
        return tuple(each if isinstance(each, str) else json.dumps(each) for each in value)
    return {name: each if isinstance(each, str) else json.dumps(each) for name, each in value.items()}


def _scalar(text: str) -> str:
    if text[:1] == '"':
        return _double_quoted(text)
    if text[:1] == "'":
        inside = re.match(r"'((?:[^']|'')*)'", text)
        return inside[1].replace("''", "'") if inside else text[1:]
    plain = _COMMENT.sub("", f" {text}").strip()
    return "" if plain in ("~", "null") else plain


def _double_quoted(text: str) -> str:
    try:
        value, _ = json.JSONDecoder(strict=False).raw_decode(text)
    except (ValueError, RecursionError):
        inside = re.match(r'"((?:[^"\\]|\\.)*)"?', text, re.DOTALL)
        return _ESCAPE.sub(_unescaped, inside[1]) if inside else text[1:]
    return str(value)


def _unescaped(match: re.Match[str]) -> str:
    code = match[1] or match[2] or match[3]
    if code:
        return chr(min(int(code, 16), _LAST_CHARACTER))
    return _ESCAPES.get(match[4], match[4])


def _block_text(style: str, chomping: str, below: Sequence[str]) -> str:
    filled = [line for line in below if line.strip()]
    indent = min((len(line) - len(line.lstrip()) for line in filled), default=0)
    lines = [line[indent:] if line.strip() else "" for line in below]
    text = "\n".join(lines)
    kept = text if chomping == "+" else text.strip("\n")
    return kept if style == "|" else _FOLD.sub(lambda match: match[1][1:] or " ", kept)
