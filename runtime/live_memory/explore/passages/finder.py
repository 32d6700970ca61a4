"""The search for passages: candidates from one pass over the tree, ranked as files, then as windows of lines.

Absent on purpose: an index. Everything is found anew each time, so nothing can be stale.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from live_memory.errors import ToolRefusal
from live_memory.explore import jail
from live_memory.explore.passages.candidates import find_candidates
from live_memory.explore.passages.definitions import definitions
from live_memory.explore.passages.kinds import factor_of, skipped_globs
from live_memory.explore.passages.links import homes_of, names_in
from live_memory.explore.passages.passage import Passage
from live_memory.explore.passages.pattern import Resolver, pattern_of
from live_memory.explore.passages.question import Question, read_question
from live_memory.explore.passages.ranking import File, Meanings, content_score, counted, score, score_paths, weigh
from live_memory.explore.passages.windows import BIN_LINES, WINDOW_LINES, Window, best_windows, binned, matched_lines
from live_memory.text.redaction import Redaction

DEFAULT_TIMEOUT_S = 5.0
SEARCH_SHARE = 0.7  # of the time, for finding the candidates
WEIGHED_FILES = 800
WINDOWED_FILES = 80
READ_FILES = 40
LINKING_FILES = 2
SHOWN_FILES = 5
LINK_SHARE = 0.1  # of the best file's score, for a file that defines what the best ones use
FURTHER_WINDOW_FACTOR = 0.8  # so that one file does not fill the answer
LINES_BEFORE_DEFINITION = 8
_COMMENT_STARTS = ("#", "//", "/*", "*", "--", "@", '"""', "<!--", ";")


def find_passages(
    root: Path,
    question: str,
    *,
    limit: int = 5,
    timeout_s: float = DEFAULT_TIMEOUT_S,
    redaction: Redaction | None = None,
) -> tuple[Passage, ...]:
    """At most `limit` places under `root` that speak to `question`, best first; none when nothing matches. Secrets are taken
    out unless `redaction` says otherwise.

    Raises nothing for what the question holds; when the time is over, it returns the best found so far."""
    deadline_s = time.monotonic() + timeout_s
    asked = read_question(question)
    pattern = pattern_of(asked.concepts)
    if not pattern:
        return ()
    blocks = find_candidates(root, pattern, skipped_globs(asked.words), timeout_s * SEARCH_SHARE)
    ranking = _Ranking(root, asked, Resolver(asked.concepts), deadline_s)
    places = ranking.places(ranking.candidates(blocks))
    return tuple(ranking.passage(place, redaction or Redaction()) for place in places[:limit])


@dataclass(frozen=True, slots=True)
class _Place:
    file: File
    window: Window
    score: float


class _Ranking:
    """One question's way from candidates to places, each stage over fewer files than the one before."""

    def __init__(self, root: Path, asked: Question, resolver: Resolver, deadline_s: float) -> None:
        self.root = root
        self.asked = asked
        self.resolver = resolver
        self.deadline_s = deadline_s
        self.weights: list[float] = []
        self.texts: dict[str, list[str]] = {}

    def candidates(self, blocks: Mapping[str, bytes]) -> list[File]:
        """The files worth looking into, by how often they hold the question's words and by their paths."""
        counts = self._counted(blocks)
        self.weights = weigh(self.asked.concepts, counts.values())
        ranked = sorted((-content_score(count, self.weights), path) for path, count in counts.items())
        files = [
            File(path, blocks[path], -negative, factor_of(path, self.asked.words))
            for negative, path in ranked[:WEIGHED_FILES]
        ]
        score_paths(files, self.asked, self.resolver, self.weights)
        return _best(files, WINDOWED_FILES)

    def _counted(self, blocks: Mapping[str, bytes]) -> dict[str, Meanings]:
        counts: dict[str, Meanings] = {}
        for path, block in blocks.items():
            count = counted(block, self.resolver)
            if count:
                counts[path] = count
            if counts and time.monotonic() > self.deadline_s:
                break
        return counts

    def places(self, files: list[File]) -> list[_Place]:
        """The windows of the files that could be read, best first."""
        for file in files:
            file.bins = binned(file.block, self.resolver)
            file.windows = best_windows(file.bins, (), self.resolver, self.weights)
        read = [file for file in _best(files, READ_FILES) if self._look_into(file)]
        read = self._with_links(_best(read, READ_FILES))
        places = [
            _Place(file, window, _place_score(file, window) * FURTHER_WINDOW_FACTOR**order)
            for file in read
            for order, window in enumerate(file.windows)
        ]
        return sorted(places, key=lambda place: (-place.score, place.file.path, place.window.first_bin))

    def _look_into(self, file: File) -> bool:
        """Read the file and rank its windows with what is defined in them; False when it cannot be read any more."""
        if self.texts and time.monotonic() > self.deadline_s:
            return False
        try:
            lines = jail.read_text(self.root, file.path).text.split("\n")
        except (ToolRefusal, OSError):
            return False
        self.texts[file.path] = lines
        defined = definitions(lines, matched_lines(file.block), PurePosixPath(file.path).suffix.lower())
        file.windows = best_windows(file.bins, defined, self.resolver, self.weights)
        return True

    def _with_links(self, files: list[File]) -> list[File]:
        """The files once those that define what the best ones use have got their share; only for those it can bring into sight."""
        if not files:
            return files
        bonus = LINK_SHARE * files[0].score
        least = files[min(SHOWN_FILES, len(files)) - 1].score - bonus
        near = [file for file in files if file.score > least]
        used: set[str] = set()
        for file in near[:LINKING_FILES]:
            first = file.windows[0].first_bin * BIN_LINES
            used |= names_in(self.texts[file.path][first : first + WINDOW_LINES])
        homes = homes_of(used, {file.path: self.texts[file.path] for file in near})
        for file in near[LINKING_FILES:]:
            if file.path in homes:
                file.score += bonus * file.factor
        return files

    def passage(self, place: _Place, redaction: Redaction) -> Passage:
        """The place as it is shown: from its definition on where it has one, no empty lines at its end, secrets replaced."""
        lines = self.texts[place.file.path]
        start = place.window.first_bin * BIN_LINES + 1
        if place.window.definition is not None:
            start = _with_comment(lines, place.window.definition.line)
        start = min(start, len(lines))
        end = min(len(lines), start + WINDOW_LINES - 1)
        while end > start and not lines[end - 1].strip():
            end -= 1
        text = "\n".join(redaction.clean_lines(lines, start - 1, end))
        return Passage(place.file.path, start, end, text, self._reason(place), round(place.score, 3))

    def _reason(self, place: _Place) -> str:
        definition = place.window.definition
        reasons = [f"defines {definition.name}"] if definition is not None else []
        for said, concepts in (("has", place.window.concepts), ("path has", place.file.path_concepts)):
            labels = dict.fromkeys(self.asked.concepts[at].label for at in concepts)
            reasons += [f"{said} {', '.join(labels)}"] if labels else []
        return "; ".join(reasons)


def _place_score(file: File, window: Window) -> float:
    """The file's score, which counts its best window, as if `window` were that one."""
    return file.score - file.factor * (file.windows[0].score - window.score)


def _best(files: list[File], number: int) -> list[File]:
    for file in files:
        score(file)
    return sorted(files, key=lambda file: (-file.score, file.path))[:number]


def _with_comment(lines: Sequence[str], line: int) -> int:
    """The line where the comment or the decorators right above `line` begin."""
    first = line
    while first > 1 and line - first < LINES_BEFORE_DEFINITION and lines[first - 2].strip().startswith(_COMMENT_STARTS):
        first -= 1
    return first
