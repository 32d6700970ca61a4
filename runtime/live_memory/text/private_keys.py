"""Private key blocks: on many lines, on one, inside of quotes, comments and diffs, whole or cut off at either end. Pure; every
line stays where it is."""

from __future__ import annotations

import re
import string
from collections.abc import Sequence

REDACTED = "[redacted: private key]"
MAX_KEY_LINES = 400
MARKS = ("PRIVATE KEY", "PuTTY-User-Key-File", "Private-MAC")

_BEGINS = re.compile(r"-----BEGIN (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----|PuTTY-User-Key-File-\d: ")
_ENDS = re.compile(r"-----END (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----|Private-MAC: ?[0-9a-fA-F]*")
_HEADER = r"(?:Proc-Type|DEK-Info|Version|Comment|Encryption|Public-Lines|Private-Lines)\b.{0,200}"
# What may stand on the lines of a key: quotes, comment signs or a diff's signs around one run of base64, and a line's end as
# source text spells it. Where the key is cut off, only long runs are taken for it.
_AROUND = (r"[^A-Za-z0-9]{0,40}", r"(?:\\[nr]){0,2}[^A-Za-z0-9]{0,20}")
_LINE = re.compile(rf"{_AROUND[0]}(?:[A-Za-z0-9+/=]{{4,200}}?|{_HEADER})?{_AROUND[1]}")
_LONG_LINE = re.compile(rf"{_AROUND[0]}[A-Za-z0-9+/=]{{16,200}}?{_AROUND[1]}")
_SOME_KEY = re.compile(r"[A-Za-z0-9+/=]{4}")
_KEY_PART = re.compile(r"[A-Za-z0-9+/=]{16}")
_KEY_CHARS = string.ascii_letters + string.digits + "+/=\\"
_LEAST_TAIL_CHARS = 40  # of a key on one line whose beginning is elsewhere


def may_hold_a_key(text: str) -> bool:
    return any(mark in text for mark in MARKS)


def without_keys(lines: Sequence[str]) -> tuple[list[str], int]:
    """The lines, as many as before, with `[redacted: private key]` in the place of what belongs to a key; and how many keys."""
    return _Reader(lines).read()


class _Reader:
    """One pass over the lines. `left` is how many more lines the key that was begun may take."""

    def __init__(self, lines: Sequence[str]) -> None:
        self.lines = lines
        self.shown: list[str] = []
        self.count = 0
        self.left = 0
        self.key_line = _LINE
        self.ends_at = [number for number, line in enumerate(lines) if may_hold_a_key(line) and _ENDS.search(line)]
        self.next_end = 0

    def read(self) -> tuple[list[str], int]:
        for number, line in enumerate(self.lines):
            marked = may_hold_a_key(line)
            if marked and (begins := _BEGINS.search(line)):
                self._begin(number, line, begins)
            elif marked and (ends := _ENDS.search(line)) and (self.left or self._cover_back(line[: ends.start()])):
                head = line[: ends.start()]
                self.shown.append(f"{'' if _KEY_PART.search(head) else head}{REDACTED}{line[ends.end() :]}")
                self.left = 0
            elif self.left and self.key_line.fullmatch(line):
                self.shown.append(REDACTED if _SOME_KEY.search(line) else line)
                self.left -= 1
            else:
                self.shown.append(line)
                self.left = 0
        return self.shown, self.count

    def _begin(self, number: int, line: str, begins: re.Match[str]) -> None:
        ends = _ENDS.search(line, begins.end())
        rest = line[ends.end() :] if ends else ""
        while ends and (again := _BEGINS.search(rest)):  # several on one line
            ends = _ENDS.search(rest, again.end())
            rest = rest[ends.end() :] if ends else ""
        self.shown.append(f"{line[: begins.start()]}{REDACTED}{rest}")
        self.count += 1
        self.left = 0 if ends else MAX_KEY_LINES
        while self.next_end < len(self.ends_at) and self.ends_at[self.next_end] <= number:
            self.next_end += 1
        nearest = self.ends_at[self.next_end] if self.next_end < len(self.ends_at) else None
        self.key_line = _LINE if nearest is not None and nearest - number <= MAX_KEY_LINES else _LONG_LINE

    def _cover_back(self, head: str) -> bool:
        """Whether a key ends here whose beginning was not shown; its lines so far are then covered."""
        if len(head) - len(head.rstrip(_KEY_CHARS)) >= _LEAST_TAIL_CHARS:
            self.count += 1
            return True
        at = len(self.shown) - 1
        if at > 0 and not _LONG_LINE.fullmatch(self.shown[at]) and _LINE.fullmatch(self.shown[at]):
            at -= 1  # the last line of a key is shorter than the others
        if at < 0 or not _LONG_LINE.fullmatch(self.shown[at]):
            return False
        first = at
        while first > 0 and at - first < MAX_KEY_LINES and _LONG_LINE.fullmatch(self.shown[first - 1]):
            first -= 1
        self.shown[first:] = [REDACTED] * (len(self.shown) - first)
        self.count += 1
        return True
