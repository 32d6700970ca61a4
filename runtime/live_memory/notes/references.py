"""What a note names of the code: identifiers and paths that the repository can be asked for. Pure; no text makes it raise.

Strict on purpose: a name that the repository does not know makes a note look dead. Taken are only words that nothing but
code is written like; names of products, hosts, branches and of what the note itself says is gone are left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from live_memory.notes.note import Note
from live_memory.notes.sentences import sentences
from live_memory.text.languages import PROPER_NAMES
from live_memory.text.terms import fold

MAX_REFERENCES = 64  # of one note
MIN_NAME_CHARS = 4
# A sentence that says so speaks of what is not there.
_ABSENT = re.compile(
    r"\b(?:removed?|deleted?|dropped?|renamed?|replaced?|gone|deprecated|no longer|used to|formerly|previously|was called|obsolete|retired"
    r"|instead of|rather than|planned|will be|to be (?:added|written|built)|rimoss[aoe]|eliminat[aoe]|supprim\w+|entfernt|eliminad[ao])\b",
    re.IGNORECASE,
)
_CODE_SPAN = re.compile(r"`([^`\n]{2,160})`")
_URL = re.compile(
    r"\b[a-z][a-z0-9+.-]*://\S+|\b[\w.+-]+@[\w-]+\.[\w.]+|(?<!\w)(?:~|\$\w+|%\w+%|[A-Za-z]:)[/\\]\S+", re.IGNORECASE
)
_PATH = re.compile(r"(?<![\w/\\.@:$-])(?:\./)?(?:[\w.@+-]+/)+[\w@+-][\w.@+-]*\.[A-Za-z][A-Za-z0-9]{0,7}(?![\w/-])")
_CALL = re.compile(r"(?<![\w.$/-])([A-Za-z_][\w.:]*)\(\)")
_SNAKE = re.compile(r"(?<![\w.$/-])_{0,2}[a-z][a-z0-9]*(?:_[a-z0-9]+)+_{0,2}(?![\w/-])")
_CAMEL = re.compile(r"(?<![\w.$/-])[a-z][a-z0-9]+(?:[A-Z][a-z0-9]+)+(?![\w/-])")
_SCOPED = re.compile(r"(?<![\w.$/-])[A-Za-z_]\w*(?:::[A-Za-z_]\w*)+")
_MEMBER = re.compile(r"(?<![\w.$/-])[A-Z]\w*[a-z]\w*\.[a-z_]\w*(?![\w/.-])")
# Prose has names with humps too (LinkedIn, BigQuery); three of them, or an ending that classes have, are code.
_CLASS = re.compile(
    r"(?<![\w.$/-])(?:[A-Z][a-z0-9]+){1,6}(?:Store|Service|Manager|Handler|Controller|Factory|Builder|Client|Server|Error|Exception|Config|Provider"
    r"|Repository|Widget|Parser|Engine|Runner|Worker|Queue|Cache|Helper|Utils?|Adapter|Impl|Middleware|Component|Registry|Listener|Context"
    r"|Schema|Request|Response|Session|Validator|Serializer|Mapper|Loader|Writer|Reader|Scheduler|Dispatcher|Resolver|Router|Processor"
    r"|Generator|Renderer|Logger|Formatter|Encoder|Decoder|Iterator|Visitor|Strategy|Policy|Guard|Pipeline)(?![\w/-])"
    r"|(?<![\w.$/-])(?:[A-Z][a-z]+){3,6}(?![\w/-])"
)
_PASCAL = re.compile(r"[A-Z][a-z0-9]+(?:[A-Z][a-z0-9]*)+")
_CODE_NAME = re.compile(r"[A-Za-z_$][\w$]*(?:(?:\.|::|->)[A-Za-z_$][\w$]*)*")
_DOMAIN = re.compile(
    r"^[\w-]+(?:\.[\w-]+)*\.(?:com|org|net|io|dev|app|ai|co|eu|de|it|rs|internal|local|example)$", re.IGNORECASE
)
_FILE = re.compile(
    r"[\w.+-]+\.(?:py|pyi|ts|tsx|mts|cts|jsx|go|rs|java|kt|kts|swift|rb|php|cs|fs|c|h|cc|cpp|hpp|hh|m|mm|scala|clj|ex|exs|erl|hs|lua|pl|r|jl|dart|zig"
    r"|vue|svelte|sql|proto|graphql|tf|sh|bash|ps1|gradle|cmake|toml|ya?ml|ini|cfg|css|scss|less|html?)"
)
_ENVIRONMENT = re.compile(r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*")


@dataclass(frozen=True, slots=True)
class References:
    """`names` are identifiers, of which each part has to be somewhere in the code; `paths` are files, relative to the root or
    by the end of their path."""

    names: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.names) + len(self.paths)


def references(note: Note) -> References:
    """What `note` names, each once, in order; its sources among the paths."""
    found_names: list[str] = []
    found_paths: list[str] = list(note.sources)
    absent: set[str] = set()
    for text in (note.title, note.description, note.body):
        for sentence in sentences(text):
            names, paths = _names(sentence), _paths(sentence)
            if _ABSENT.search(sentence):
                absent.update(names, paths)
            found_names += names
            found_paths += paths
    written = f"{note.title}\n{note.description}\n{note.body}"
    # What its words do not name, somebody gave for what it is.
    found_names += (each for each in note.symbols if _CODE_NAME.fullmatch(each) and each not in written)
    there = [tuple(each for each in dict.fromkeys(found) if each not in absent) for found in (found_names, found_paths)]
    return References(there[0][:MAX_REFERENCES], there[1][:MAX_REFERENCES])


def parts(name: str) -> tuple[str, ...]:
    """The words of an identifier that each have to be there: `SessionStore.load` → SessionStore, load."""
    return tuple(part for part in re.split(r"\.|::|->", name) if part)


def _paths(sentence: str) -> list[str]:
    plain = _URL.sub(" ", sentence)
    found = [match.group().removeprefix("./") for match in _PATH.finditer(plain)]
    spans = (match[1].strip().removeprefix("./") for match in _CODE_SPAN.finditer(plain))
    found += (span for span in spans if _FILE.fullmatch(span))
    return [path for path in found if not _DOMAIN.match(path.partition("/")[0]) and ".." not in path.split("/")]


def _names(sentence: str) -> list[str]:
    plain = _PATH.sub(" ", _URL.sub(" ", sentence))
    found = list(_of_spans(_CODE_SPAN.finditer(plain)))
    prose = _CODE_SPAN.sub(" ", plain)
    for shape in (_CALL, _SCOPED, _MEMBER, _CLASS, _SNAKE, _CAMEL):
        found += (match[1] if shape is _CALL else match.group() for match in shape.finditer(prose))
    return [name for name in found if _is_telling(name)]


def _of_spans(spans: Iterable[re.Match[str]]) -> Iterator[str]:
    """The names in code spans that are a name and nothing else: a command or a line of code names much that is no symbol."""
    for span in spans:
        name = span[1].strip().removesuffix("()")
        if not _CODE_NAME.fullmatch(name) or _FILE.fullmatch(name):
            continue
        is_joined = "_" in name.strip("_") or len(parts(name)) > 1 or span[1].rstrip().endswith("()")
        if is_joined or _PASCAL.fullmatch(name) or _CAMEL.fullmatch(name):
            yield name


def _is_telling(name: str) -> bool:
    if len(name) < MIN_NAME_CHARS or _ENVIRONMENT.fullmatch(name) or _DOMAIN.match(name):
        return False  # what is set in an environment need not stand in the code
    return fold(name) not in PROPER_NAMES and not fold(name).startswith(("e.g", "i.e"))
