"""Whether a line defines something, and what: by a few expressions a language family.

Pure, and only roughly right: a wrong guess costs a place in the ranking, nothing else. No language is parsed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

HEAD_LINES = 5
MAX_HEAD_CHARS = 600


@dataclass(frozen=True, slots=True)
class Definition:
    """`name` as it is written; `line` counts from 1."""

    name: str
    line: int


_NAME = r"[A-Za-z_$][\w$]*"
_KEYWORDS = re.compile(
    r"^[ \t]*(?:(?:export|default|declare|pub(?:\([^)]*\))?|public|private|protected|internal|abstract|final|sealed|static|async|override|open|"
    r"inline|unsafe|extern|const|virtual|data|suspend|companion|readonly|partial|\"C\")[ \t]+)*"
    r"(?:def|class|func|fn|function\*?|struct|enum|trait|interface|type|mod|module|impl(?:<[^>]*>)?|macro_rules!|object|fun|namespace|union|const|let|var|val|static|typedef|record|protocol|extension)"
    r"[ \t]+(?:\([^)\n]*\)[ \t]*)?(?:self\.|mut[ \t]+)?(" + _NAME + r"(?:(?:::|\.)" + _NAME + r")*[!?]?)",
)
_ASSIGNED = re.compile(
    r"^[ \t]*(?:[\w$]+\.)*("
    + _NAME
    + r")[ \t]*(?::[^=\n]{0,80})?=[ \t]*(?:async[ \t]+)?(?:function\b|\(|[\w$]+[ \t]*=>|class\b|lambda\b)",
)
_CONSTANT = re.compile(r"^(?:export[ \t]+)?([A-Z][A-Z0-9_]{2,})[ \t]*(?::[^=\n]{0,80})?=")
_BRACED_METHOD = re.compile(
    r"^[ \t]+(?:(?:public|private|protected|static|final|async|abstract|synchronized|override|get|set|native|virtual|const|inline)[ \t]+)*"
    r"(?:[\w<>\[\],.?&*:]+[ \t]+)?\*?(" + _NAME + r")[ \t]*\([^;{}=]*\)[^;{}\n=]*\{",
)
_C_FUNCTION = re.compile(
    r"^(?:[A-Za-z_][\w \t*&:<>,~\[\]]*[ \t*&])?((?:[\w~]+::)*~?" + _NAME + r")[ \t]*\((?![^\n]*;[ \t]*$)", re.MULTILINE
)
_C_MACRO = re.compile(r"^#[ \t]*define[ \t]+(" + _NAME + ")")
_SHELL = re.compile(r"^[ \t]*(?:function[ \t]+)?([A-Za-z_][\w:.-]*)[ \t]*\(\)")
_OBJC = re.compile(r"^[-+][ \t]*\([^)\n]*\)[ \t]*(" + _NAME + ")")
_HEADING = re.compile(r"^#{1,6}[ \t]+(.+)")
_YAML_KEY = re.compile(r"^[ \t]{0,4}([A-Za-z_][\w. -]*):")
_TOML_TABLE = re.compile(r"^\[+([\w.\"' -]+)\]+|^([\w-]+)[ \t]*=")
_NOT_A_NAME = re.compile(
    r"(?:if|for|while|switch|catch|return|else|function|do|try|with|await|new|sizeof|elif|foreach|synchronized|using|lock|super|this|not)\Z"
)

_C_LIKE = (_KEYWORDS, _C_FUNCTION, _BRACED_METHOD, _C_MACRO)
_BY_SUFFIX = {
    **dict.fromkeys((".py", ".pyi"), (_KEYWORDS, _CONSTANT, _ASSIGNED)),
    **dict.fromkeys(
        (".js", ".jsx", ".mjs", ".cjs", ".ts", ".tsx", ".mts", ".cts", ".vue", ".svelte", ".flow"),
        (_KEYWORDS, _ASSIGNED, _BRACED_METHOD),
    ),
    **dict.fromkeys(
        (".go", ".rs", ".rb", ".kt", ".kts", ".swift", ".scala", ".ex", ".exs", ".php", ".lua", ".dart"),
        (_KEYWORDS, _CONSTANT),
    ),
    **dict.fromkeys((".java", ".cs"), (_KEYWORDS, _BRACED_METHOD)),
    **dict.fromkeys((".c", ".h", ".cc", ".cpp", ".cxx", ".hh", ".hpp", ".hxx"), _C_LIKE),
    **dict.fromkeys((".m", ".mm"), (*_C_LIKE, _OBJC)),
    **dict.fromkeys((".sh", ".bash", ".zsh", ".ksh", ""), (_SHELL, _KEYWORDS)),
    **dict.fromkeys((".md", ".mdx"), (_HEADING,)),
    **dict.fromkeys((".yml", ".yaml"), (_YAML_KEY,)),
    ".toml": (_TOML_TABLE,),
}


def definitions(lines: Sequence[str], numbers: Iterable[int], suffix: str) -> tuple[Definition, ...]:
    """What is defined at these line numbers of a file with this suffix (`.py`, empty for none)."""
    expressions = _BY_SUFFIX.get(suffix, (_KEYWORDS,))
    found = []
    for number in numbers:
        if number > len(lines):
            continue
        # A parameter list may go on for some lines before the brace that tells a definition from a call.
        here = "\n".join(lines[number - 1 : number - 1 + HEAD_LINES])[:MAX_HEAD_CHARS]
        for expression in expressions:
            match = expression.match(here)
            name = next((group for group in match.groups() if group), "") if match else ""
            if name and not _NOT_A_NAME.match(name):
                found.append(Definition(name, number))
                break
    return tuple(found)
