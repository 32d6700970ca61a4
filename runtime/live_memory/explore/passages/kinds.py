"""What kind of file a path is, and how much less a question is likely to want it. Pure: it looks at names only."""

from __future__ import annotations

import re
from dataclasses import dataclass

from live_memory.text.terms import stem


@dataclass(frozen=True, slots=True)
class Kind:
    """Files whose path matches weigh `factor`, unless the question has one of the `asked` words (stems)."""

    name: str
    path: re.Pattern[str]
    factor: float
    asked: frozenset[str]


def _stems(words: str) -> frozenset[str]:
    return frozenset(stem(word) for word in words.split())


def _kind(name: str, path: str, factor: float, asked: str) -> Kind:
    return Kind(name, re.compile(path), factor, _stems(asked))


# Paths are matched in lower case with a `/` before the first folder.
KINDS = (
    _kind(
        "test",
        r"/(?:tests?|specs?|__tests__|__mocks__|testing|testdata|test-d|e2e|fixtures?|benches|benchmarks?|unit_tests|system_tests)/"
        r"|/(?:test_|conftest)[^/]*$|[._-](?:test|tests|spec|bench)\.[a-z]+$|_test\.[a-z]+$|/[^/]*apitest[^/]*/",
        0.6,
        "test tests testing tested spec fixture benchmark mock prova test prueba teste essai",
    ),
    _kind(
        "docs",
        r"/(?:docs?|documentation|examples?|samples?|demos?|tutorials?|docs_src|man)/|/(?:readme|changelog|changes|history|news|contributing)"
        r"[^/]*$|\.(?:md|rst|mdx|adoc|ronn|[1-9])$",
        0.55,
        "doc docs documentation documented readme example examples tutorial changelog guide manual documentazione esempio ejemplo exemple beispiel",
    ),
    _kind(
        "vendored",
        r"/(?:vendor|vendored|vendors|third_party|third-party|thirdparty|3rdparty|external|externals|node_modules|_vendor|bower_components)/",
        0.35,
        "vendor vendored vendoring thirdparty",
    ),
    _kind(
        "generated",
        r"/(?:dist|generated|__generated__|types_generated|gen|build|out|target)/|[._-](?:generated|gen|pb|pb2|pb2_grpc)\.[a-z]+$"
        r"|\.pb\.(?:go|cc|h)$|\.g\.(?:dart|cs)$|_pb2(?:_grpc)?\.pyi?$|/[^/]*_proto/",
        0.4,
        "generated protobuf",
    ),
    _kind("minified", r"\.min\.[a-z]+$|[.-]bundle\.js$|\.map$", 0.2, "minified bundle"),
    _kind(
        "locale",
        r"/(?:locales?|i18n|l10n|translations?|lang|langs)/|\.(?:po|pot|xlf|xliff)$",
        0.35,
        "locale locales translation translations translate translated language languages i18n italian french german spanish english chinese "
        "japanese portuguese russian lingua traduzione idioma langue sprache",
    ),
    _kind(
        "data",
        r"\.(?:json|json5|jsonl|csv|tsv|xml|svg|txt|ipynb|snap|log|plist|pbxproj|xib|storyboard|sql|css|scss|html?)$",
        0.35,
        "json csv xml svg css html sql stylesheet template snapshot notebook",
    ),
    _kind(
        "lock",
        r"/(?:package-lock\.json|pnpm-lock\.yaml|go\.sum|npm-shrinkwrap\.json)$|\.lock$|/requirements[^/]*\.lock$",
        0.2,
        "lock lockfile pinned hash",
    ),
    _kind(
        "declarations",
        r"\.d\.[cm]?ts$|\.pyi$|\.js\.flow$|\.flow\.js$",
        0.55,
        "typing types declaration declarations stub stubs flow",
    ),
    _kind("header", r"\.(?:h|hh|hpp|hxx)$", 0.85, "header headers declared prototype"),
)
# Data by its suffix, but people ask about it.
_MANIFEST = re.compile(
    r"/(?:package|tsconfig[^/]*|composer|plugin|marketplace|manifest|hooks|settings|config|deno|pom|build|cargo|requirements|cmakelists)\.(?:json|xml|txt)$"
)
_NEVER_WANTED = (
    "*.map",
    "*.min.js",
    "*.min.css",
    "*.svg",
    "*.lock",
    "package-lock.json",
    "pnpm-lock.yaml",
    "go.sum",
    "*.snap",
    "*.ipynb",
    "*.pbxproj",
)
_ASKED_FOR_THEM = _stems("minified map svg lock lockfile snapshot notebook ipynb xcode pnpm")


def factor_of(path: str, words: frozenset[str]) -> float:
    """How much a match in `path` weighs (0..1] for a question that has these `words` (stems)."""
    folded = "/" + path.lower()
    factor = 1.0
    for kind in KINDS:
        if kind.path.search(folded) and not (kind.asked & words):
            if kind.name == "data" and _MANIFEST.search(folded):
                continue
            factor *= kind.factor
    return factor


def skipped_globs(words: frozenset[str]) -> tuple[str, ...]:
    """Files not even searched, in .gitignore's syntax, unless the question has a word for them."""
    return () if words & _ASKED_FOR_THEM else _NEVER_WANTED
