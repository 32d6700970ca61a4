"""Which files define what the best windows use: an answer often lies one step from where the question's words are. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

_DEFINED = re.compile(
    r"\b(?:def|class|func|fn|function|struct|interface|trait|enum|type|module|impl)[ \t]+"
    r"(?:\([^)\n]*\)[ \t]*)?(?:self\.)?([A-Za-z_$][\w$]{3,})"
)
_NAME = re.compile(r"[A-Za-z_$][\w$]{3,}")


def names_in(lines: Iterable[str]) -> set[str]:
    """The words of these lines that may be names of something."""
    return set(_NAME.findall("\n".join(lines)))


def homes_of(names: set[str], texts: Mapping[str, Sequence[str]]) -> set[str]:
    """The paths of the texts that alone define one of `names`, or are files named like one."""
    homes: dict[str, set[str]] = {}
    for path, lines in texts.items():
        defined = {*_DEFINED.findall("\n".join(lines)), path.rpartition("/")[2].partition(".")[0]}
        for name in defined & names:
            homes.setdefault(name, set()).add(path)
    return {path for paths in homes.values() if len(paths) == 1 for path in paths}
