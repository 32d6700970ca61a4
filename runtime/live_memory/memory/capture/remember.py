"""What the user explicitly asked to have remembered, as it stands: "remember that …", in the languages people work in. Pure.

A question ("do you remember that …?") asks for nothing to be kept; code and quotes are not the user's words.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from live_memory.notes.draft import Draft
from live_memory.notes.note import Kind

MIN_CHARS = 8
MIN_WIDE_CHARS = 4
MAX_CHARS = 1000
TITLE_CHARS = 100

_POLITE = (
    r"(?:(?:please|and|also|ok(?:ay)?|so|by the way|btw|p\.?s\.?|per favore|a proposito|bitte|übrigens|s'il (?:te|vous) pla[iî]t|au fait"
    r"|por favor|por cierto|a prop[oó]sito|请|請|那么|顺便)[,，:：]?\s*){0,3}"
)
_ASKS = (
    r"(?:remember|keep in mind|bear in mind|don'?t forget|do not forget|never forget|take note|memori[sz]e)"
    r"(?:\s+for (?:next time|later|the future))?(?:\s+that\b|\s*[:：])"
    r"|(?:ricord(?:a|ati|are|atevi)|tieni (?:a mente|presente)|non dimenticare|annota)(?:\s+che\b|\s*[:：])"
    r"|(?:souviens[- ]toi|souvenez[- ]vous|rappelle[- ]toi|n'oublie pas|n'oubliez pas|retiens|retenez)(?:\s+(?:que\b|qu')|\s*[:：])"
    r"|(?:merk(?:e)? dir|merken sie sich|vergiss nicht|denk(?:e)? daran|beachte)(?:\s*,?\s+dass\b|\s*[:：])"
    r"|(?:recuerda|recordad|acu[eé]rdate|no olvides|ten en cuenta|anota)(?:\s+(?:de\s+)?que\b|\s*[:：])"
    r"|(?:lembr[ae](?:-te|-se)?|n[aã]o (?:te )?esque[cç]as?|tenha em mente)(?:\s+(?:de\s+)?que\b|\s*[:：])"
    r"|(?:onthoud|vergeet niet)(?:\s+dat\b|\s*[:：])"
    r"|(?:запомни(?:те)?|помни(?:те)?|не забудь(?:те)?)(?:\s*,?\s+что\b|\s*[:：])"
    r"|(?:请?记住|請?記住|别忘了|不要忘记|記得|记得)\s*[,，:：]?"
    r"|(?:覚えて(?:おいて)?(?:ください|下さい)?|忘れないで(?:ください)?|기억해(?:\s*(?:줘|주세요))?)\s*[,、，:：]"
)
_REQUEST = re.compile(
    rf"(?:^|(?<=[.!?;。！？；]\s)|(?<=[。！？；]))[ \t]*[-*]?[ \t]*{_POLITE}(?:{_ASKS})[ \t]*(?P<what>[^\n]+)",
    re.IGNORECASE | re.MULTILINE,
)
# Japanese and Korean put the request behind what is to be kept.
_BEHIND = re.compile(
    r"^(?P<what>[^\n。]{4,400}?)(?:こと|の)?(?:を|は)(?:覚えて(?:おいて)|忘れないで)[^\n]*$", re.MULTILINE
)
_CODE = re.compile(
    r"^(```|~~~)[^\n]*\n.*?(?:^\1[^\n]*$|\Z)|^[ \t]*>[^\n]*$|^(?: {4}|\t)[^\n]*$", re.MULTILINE | re.DOTALL
)
_WANTS = re.compile(
    r"\b(?:I|we)\s+(?:like|prefer|want|use|always|never|don't|do not)\b|\b(?:always|never|prefer|use)\b"
    r"|\b(?:usa|usiamo|preferi\w+|sempre|mai|immer|nie|bevorzug\w+|toujours|jamais|pr[eé]f[eè]re\w*|siempre|nunca|prefiero|sempre|всегда|никогда)\b"
    r"|总是|總是|永远|不要|喜欢|使用|用|いつも|必ず|항상|절대",
    re.IGNORECASE,
)
_QUESTION = ("?", "？")
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])")


def requests(user_texts: Iterable[str]) -> tuple[Draft, ...]:
    """A note for everything that these texts of the user ask to have remembered, each once, in the user's own words."""
    found = dict.fromkeys(what for text in user_texts for what in _asked(text))
    return tuple(_draft(what) for what in found)


def _asked(text: str) -> Iterator[str]:
    prose = _CODE.sub("", text)
    for pattern in (_REQUEST, _BEHIND):
        for match in pattern.finditer(prose):
            what = _told(match["what"]).strip().strip("\"“”'").strip()[:MAX_CHARS]
            room = MIN_CHARS if what.isascii() else MIN_WIDE_CHARS
            if len(what) >= room:
                yield what


def _told(line: str) -> str:
    """What `line` says before it goes on with a question; empty where it begins with one."""
    start = 0
    for end in [*(match.start() for match in _SENTENCE_END.finditer(line)), len(line)]:
        if line[start:end].rstrip(" \t\"”'").endswith(_QUESTION):
            return line[:start]
        start = end
    return line


def _draft(what: str) -> Draft:
    kind: Kind = "preference" if _WANTS.search(what) else "project"
    title = what if len(what) <= TITLE_CHARS else what[:TITLE_CHARS].rsplit(" ", 1)[0] + " …"
    return Draft(
        title, what, kind=kind, description="The user asked to have it remembered.", priority="P0", origin="capture"
    )
