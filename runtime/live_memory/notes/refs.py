"""The notes that a text names: `#some-id` in its prose. Pure."""

from __future__ import annotations

import re

MAX_REFS = 64  # of one note
# Not inside of a word or an address, not the target of a Markdown link.
_CITATION = re.compile(r"(?<![\w#&/.:@=?~-])(?<!\]\()#([A-Za-z0-9][A-Za-z0-9_-]*(?:\.[A-Za-z0-9_-]+)*)(?![\w(/#])")
_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})[^\n]*$", re.MULTILINE)
_CODE_SPAN = re.compile(r"(?<!`)(`{1,2})(?!`)[^\n]*?(?<!`)\1(?!`)")
_COLOUR = re.compile(r"(?:[0-9a-fA-F]{3,4}){1,2}")
_DIRECTIVE_WORDS = "include define undef ifdef ifndef if elif else endif pragma region endregion error line"
_DIRECTIVES = frozenset(_DIRECTIVE_WORDS.split())


def lifted(body: str) -> tuple[str, ...]:
    """The ids that `body` cites, each once, in order. What stands in code, a number (`#123`), a colour or a word of the C
    preprocessor is no citation; nor is a heading, whose sign stands alone."""
    prose = _CODE_SPAN.sub(" ", _without_fences(body))
    cited = (match.group(1).rstrip("-_") for match in _CITATION.finditer(prose))
    return tuple(dict.fromkeys(name for name in cited if _is_id(name)))[:MAX_REFS]


def _is_id(name: str) -> bool:
    if not any(char.isalpha() for char in name) or name in _DIRECTIVES:
        return False
    is_colour = _COLOUR.fullmatch(name) is not None
    return not is_colour or (len(name) > len("fffb") and name.isalpha() and len(set(name.lower())) > len("fb"))


def _without_fences(text: str) -> str:
    """The lines outside of fenced code; a fence that is not closed reaches to the end."""
    kept: list[str] = []
    end = ""
    for line in text.split("\n"):
        mark = _FENCE.match(line)
        if end:
            if mark and mark[1].startswith(end) and line.strip() == mark[1]:
                end = ""
        elif mark:
            end = mark[1]
        else:
            kept.append(line)
    return "\n".join(kept)
