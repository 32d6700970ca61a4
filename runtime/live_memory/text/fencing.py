"""Data in a prompt, between tags that nothing in it can close. Pure.

Whatever others wrote (files, diffs, tool results, facts, notes, transcripts) stands in a fence wherever a model reads it.
"""

from __future__ import annotations

import re
from functools import cache

# Signs that a reader takes for the `<` of a tag, and what may stand unseen between them and the name.
_OPEN = "[<\uff1c\ufe64\u2039\u3008]"
_UNSEEN = "[\\s\u00ad\u200b-\u200f\u2060\ufeff]*+"
# Claude Code puts what a hook says between tags of this name, and speaks through them itself: closed, they would end the fence too.
CLIENT_TAG = "system-reminder"
# The marks by which chat templates tell who speaks: a server that renders a template reads them inside of text as well.
_TURN_MARK = re.compile(r"<(?=\\*[|\uff5c][\w\u2581]{1,40}[|\uff5c]>|\\*(?:start|end)_of_turn>)|\[(?=\\*/?INST\])")
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_LOST = "\ufffd"


def fenced(tag: str, text: str, **attributes: str) -> str:
    """`text` on lines of its own between `<tag name="value" …>` and `</tag>`."""
    named = "".join(f' {name}="{_attribute(tag, value)}"' for name, value in attributes.items())
    return f"<{tag}{named}>\n{defused(tag, text)}\n</{tag}>"


def defused(tag: str, text: str) -> str:
    """`text` as it stands in a fence of this tag: no tag of that name, none of the client's own, no chat template's mark and
    no control character is left as such: a backslash stands after its first sign. Every other character and every line is as it was, and whoever
    takes that backslash out again has the text."""
    safe = text
    for name in (tag, CLIENT_TAG):
        safe = _tag_pattern(name).sub(r"\g<0>\\", safe)
    return _CONTROL.sub(_LOST, _TURN_MARK.sub(r"\g<0>\\", safe))


def one_line(text: str) -> str:
    """A path or a name as it may stand in a line of a prompt: no control characters, no quotes, no half characters."""
    shown = "".join(char if char.isprintable() else _LOST for char in text)
    return shown.replace('"', "'")


def _attribute(tag: str, value: str) -> str:
    return defused(tag, one_line(value))


@cache
def _tag_pattern(tag: str) -> re.Pattern[str]:
    """The sign before a tag of this name, opening or closing, however it is spelled."""
    return re.compile(rf"{_OPEN}(?=\\*{_UNSEEN}(?:/{_UNSEEN})?{re.escape(tag)}(?![\w-]))", re.IGNORECASE)
