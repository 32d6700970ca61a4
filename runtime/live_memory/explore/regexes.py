"""ripgrep's regular expressions, rewritten for Python's `re` so that they match the same text. Pure.

The rewritten pattern is for a whole file with `re.MULTILINE`: nothing in it crosses a line end (`\\n`, `\\r`), and no
wildcard matches a byte that is no UTF-8 (decoded by `surrogateescape`). What cannot be said in `re` is refused.
"""

from __future__ import annotations

import re
from typing import Literal

from live_memory.explore.char_classes import NEVER, POSIX, SPACE, as_members, complement, not_space, word_ranges
from live_memory.explore.search import Case, PatternInvalid, PatternUnsupported

_CONTROLS = {"t": "\t", "f": "\f", "v": "\v", "a": "\x07"}
_POSIX_CLASS = re.compile(r"\[:([^:\]]*):\]")
WITHOUT_SIMPLE_FOLDING = "ıİ"  # `re` takes them for an `i`
LOOK_AROUND = "look-around and backreferences are not supported; search for a simpler pattern"
ONE_LINE = "a pattern matches within one line, so it cannot hold a line end"
_COUNTED = re.compile(r"\{(\d+)(?:(,)(\d*))?\}")
_FLAGS = re.compile(r"\(\?([a-zA-Z-]*)([:)])")
_NAME = re.compile(r"\(\?P?<([A-Za-z_][A-Za-z0-9_.\[\]]*)>")
_HEX = re.compile(r"x([0-9A-Fa-f]{2})|u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|[xuU]\{([0-9A-Fa-f]+)\}")
_BACKWARDS_OR_ASIDE = ("(?=", "(?!", "(?<=", "(?<!")
_LINE_BORDERS = {"^": r"(?:^|(?<=\r)(?!\n))", "$": r"(?:(?=\r)|(?<!\r)(?=\n)|\Z)"}
_WORD_BORDERS = {"b": "(?:{a}|{b})", "B": "(?:{c}|{d})", "<": "{a}", ">": "{b}"}
TOO_LARGE = "the pattern is too large once its repetitions are written out"
MAX_REPETITIONS = 10_000
MAX_DEPTH = 100


def compile_pattern(pattern: str, case: Case, texts: Literal["simple", "any"]) -> re.Pattern[str]:
    """`pattern` for texts of that kind; simple ones are ASCII with no lone carriage return, and searched faster.
    PatternInvalid when ripgrep would not take it either, PatternUnsupported when it might."""
    flags = re.MULTILINE | (re.IGNORECASE if case == "ignore" else 0)
    try:
        return re.compile(_Translation(pattern, texts).whole(), flags)
    except (re.error, OverflowError, RecursionError) as error:
        raise PatternUnsupported(f"this pattern needs ripgrep, which is not installed ({error})") from error


class _Translation:
    """One pass over a pattern; each method takes one construct at `at` and gives its text for `re`."""

    def __init__(self, pattern: str, texts: Literal["simple", "any"]) -> None:
        self.pattern = pattern
        self.is_simple = texts == "simple"
        self.at = 0
        self.depth = 0

    def whole(self) -> str:
        text = self.alternation()
        if self.at < len(self.pattern):
            raise PatternInvalid("unopened group")
        return text

    def alternation(self) -> str:
        parts: list[str] = []
        while self.at < len(self.pattern) and self.pattern[self.at] != ")":
            if self.pattern[self.at] == "|":
                self.at += 1
                parts.append("|")
            elif flags := self.flags_for_the_rest():
                if parts:
                    raise PatternUnsupported("flags in the middle of a pattern need ripgrep; put them first")
                parts.append(f"{flags}{self.alternation()})")
            else:
                parts.append(self.repeated())
        return "".join(parts)

    def flags_for_the_rest(self) -> str:
        flags = _FLAGS.match(self.pattern, self.at)
        if flags is None or flags[2] == ":" or not flags[1]:
            return ""
        self.at = flags.end()
        return _flags(flags[1])

    def repeated(self) -> str:
        text = self.atom()
        while self.at < len(self.pattern) and self.pattern[self.at] in "*+?{":
            text = f"(?:{text}){self.repetition()}"
            if self.pattern.startswith("?", self.at):
                self.at += 1
                text += "?"
        return text

    def repetition(self) -> str:
        if self.pattern[self.at] != "{":
            self.at += 1
            return self.pattern[self.at - 1]
        counted = _COUNTED.match(self.pattern, self.at)
        if counted is None:
            raise PatternInvalid("repetition quantifier expects a valid decimal")
        low, comma, high = int(counted[1]), counted[2] or "", counted[3] or ""
        if high and int(high) < low:
            raise PatternInvalid("invalid repetition count range")
        if max(low, int(high or 0)) > MAX_REPETITIONS:
            raise PatternUnsupported(TOO_LARGE)
        self.at = counted.end()
        return f"{{{low}{comma}{high}}}"

    def atom(self) -> str:
        char = self.pattern[self.at]
        if char in "*+?{":
            raise PatternInvalid("repetition operator missing expression")
        if char == "(":
            return self.group()
        if char == "[":
            return self.char_class()
        self.at += 1
        if char == "\\":
            return self.escape()
        if char in "^$":
            return char if self.is_simple else _LINE_BORDERS[char]
        return f"[^{NEVER}]" if char == "." else _literal(char)

    def group(self) -> str:
        if self.pattern.startswith(_BACKWARDS_OR_ASIDE, self.at):
            raise PatternUnsupported(LOOK_AROUND)
        opening = "(?:"
        if named := _NAME.match(self.pattern, self.at):
            self.at = named.end()
        elif flags := _FLAGS.match(self.pattern, self.at):
            if flags[2] == ")":
                raise PatternInvalid("repetition operator missing expression")
            self.at = flags.end()
            opening = _flags(flags[1])
        elif self.pattern.startswith("(?", self.at):
            raise PatternInvalid("unrecognized flag")
        else:
            self.at += 1
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise PatternUnsupported("the pattern is nested too deeply")
        text = self.alternation()
        if self.at >= len(self.pattern):
            raise PatternInvalid("unclosed group")
        self.at += 1
        self.depth -= 1
        return f"{opening}{text})"

    def escape(self) -> str:
        """What follows a backslash outside of a class."""
        kind = self.pattern[self.at : self.at + 1]
        if kind in {"d", "w", "s"}:
            self.at += 1
            return f"[{self.members(kind)}]"
        if kind in {"D", "W", "S"}:
            self.at += 1
            return f"[^{self.members(kind.lower())}{NEVER}]"
        if kind and kind in _WORD_BORDERS:
            self.at += 1
            if self.pattern.startswith("{", self.at):
                raise PatternUnsupported(r"\b{…} needs ripgrep; write \b")
            word = f"[{self.members('w')}]"
            sides = {"a": f"(?<!{word})(?={word})", "b": f"(?<={word})(?!{word})"}
            sides |= {"c": f"(?<={word})(?={word})", "d": f"(?<!{word})(?!{word})"}
            return "\\b" if kind == "b" and self.is_simple else _WORD_BORDERS[kind].format(**sides)
        if kind in {"A", "z"}:
            raise PatternUnsupported("a pattern matches within one line; use ^ and $")
        return _literal(self.escaped_char())

    def members(self, kind: str) -> str:
        """The inside of a class for `\\d`, `\\w` or `\\s`."""
        if kind == "d":
            return "0-9" if self.is_simple else "\\d"
        if kind == "s":
            return SPACE
        return "0-9A-Za-z_" if self.is_simple else as_members(word_ranges())

    def escaped_char(self) -> str:
        """The one character that the escape at `at` (behind its backslash) stands for."""
        kind = self.pattern[self.at : self.at + 1]
        if not kind:
            raise PatternInvalid("incomplete escape sequence, reached end of pattern prematurely")
        if code := _HEX.match(self.pattern, self.at):
            self.at = code.end()
            try:
                return chr(int(next(filter(None, code.groups())), 16))
            except (ValueError, OverflowError):
                raise PatternInvalid("hexadecimal literal is not a Unicode scalar value") from None
        self.at += 1
        if kind in _CONTROLS:
            return _CONTROLS[kind]
        if kind in "nr":
            raise PatternUnsupported(ONE_LINE)
        if kind in "pP":
            raise PatternUnsupported(rf"\{kind} needs ripgrep, which is not installed; write a class like [a-z]")
        if kind.isdigit() and kind.isascii():
            raise PatternUnsupported(LOOK_AROUND)
        if kind.isalnum() or not kind.isascii() or kind in "<>":
            raise PatternInvalid("unrecognized escape sequence")
        return kind

    def char_class(self) -> str:
        self.at += 1
        sign = "^" if self.pattern.startswith("^", self.at) else ""
        self.at += len(sign)
        members: list[str] = []
        is_guarded = False
        while not (self.pattern.startswith("]", self.at) and members):
            if sign and self.pattern.startswith(("\\n", "\\r"), self.at):
                self.at += 2  # no class holds them
                members.append("")
                continue
            text, needs_guard = self.class_item()
            members.append(text)
            is_guarded = is_guarded or needs_guard
        self.at += 1
        if sign:
            return f"[^{''.join(members)}{NEVER}]"
        return f"(?:(?![{NEVER}])[{''.join(members)}])" if is_guarded else f"[{''.join(members)}]"

    def class_item(self) -> tuple[str, bool]:
        """One member or range, and whether it may hold a character that nothing matches."""
        rest = self.pattern[self.at : self.at + 2]
        if not rest:
            raise PatternInvalid("unclosed character class")
        if rest in {"&&", "--", "~~"}:
            raise PatternUnsupported(f"{rest} in a class needs ripgrep, which is not installed")
        if rest == "[:" and (posix := _POSIX_CLASS.match(self.pattern, self.at)):
            if posix[1] not in POSIX:
                raise PatternUnsupported(f"{posix[0]} needs ripgrep, which is not installed")
            self.at = posix.end()
            return POSIX[posix[1]], False
        if rest[0] == "[":
            raise PatternUnsupported(
                r"a class inside a class needs ripgrep, which is not installed; write \[ for a bracket"
            )
        if rest[0] == "\\" and rest[1:] in {"d", "w", "s"}:
            self.at += 2
            return self.members(rest[1]), False
        if rest[0] == "\\" and rest[1:] in {"D", "W", "S"}:
            self.at += 2
            return self.others(rest[1].lower()), True
        low = self.class_char()
        if not self.pattern.startswith("-", self.at) or self.pattern[self.at + 1 : self.at + 2] in {"]", "-", ""}:
            return _member(low), False
        self.at += 1
        high = self.class_char()
        if high < low:
            raise PatternInvalid("invalid character class range, the start must be <= the end")
        return f"{_member(low)}-{_member(high)}", low <= "\r" <= high or high >= "\ud800"

    def class_char(self) -> str:
        char = self.pattern[self.at : self.at + 1]
        if not char:
            raise PatternInvalid("unclosed character class")
        self.at += 1
        return self.escaped_char() if char == "\\" else char

    def others(self, kind: str) -> str:
        """The inside of a class for all that `members(kind)` is not."""
        if kind == "s":
            return as_members(not_space())
        if kind == "d":
            return "\\D"
        return "\\W" if self.is_simple else as_members(complement(word_ranges()))


def _flags(letters: str) -> str:
    """The opening of a group under these flags."""
    on, _, off = letters.partition("-")
    if set(on + off) - set("imsUuxR"):
        raise PatternInvalid("unrecognized flag")
    if set(on) - set("imsu") or set(off) - {"i"}:
        raise PatternUnsupported(f"the flags (?{letters}) need ripgrep, which is not installed")
    return f"(?{'i' if 'i' in on else ''}{'-i' if 'i' in off else ''}:"


def _member(char: str) -> str:
    if char in "\r\n":
        raise PatternUnsupported(ONE_LINE)
    return re.escape(char)


def _literal(char: str) -> str:
    if char in WITHOUT_SIMPLE_FOLDING:
        return f"(?-i:{char})"
    return _member(char)
