"""What the window is told of files between two questions: one message for each file, and one for all that are stale or
gone. Pure."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile

from live_memory.text.fencing import fenced, one_line
from live_memory.text.tokens import CHARS_PER_TOKEN, estimate_tokens
from live_memory.window.files import FileContext, Observation
from live_memory.window.frozen import file_text, lines_of
from live_memory.window.window import Delta, Window

DIFF_RATIO = 0.5  # of the whole text; a diff above it is no easier to read and hardly cheaper
MAX_COMPARED_LINES = 16_000_000  # old times new lines that are matched; beyond, the whole text is sent
CONTEXT_LINES = 3
MAX_PENDING_FILES = 20_000


@dataclass(frozen=True, slots=True)
class Settlement:
    """The deltas that are due, not yet numbered, and the files as the window holds them after these."""

    deltas: tuple[Delta, ...] = ()
    files: tuple[FileContext, ...] = ()


def settle(window: Window, max_tokens: int) -> Settlement:
    """What `window`'s pending observations come to, oldest first, within `max_tokens`: the newest texts are taken, and
    files whose text has no room are named only."""
    seen = sorted(window.pending.values(), key=lambda each: (each.at_s, each.path))
    deltas: list[Delta] = []
    files: list[FileContext] = []
    for each in reversed(seen):
        held = window.files.get(each.path)
        delta = _file_delta(each, held) if each.text is not None else None
        if delta is not None and delta.tokens <= max_tokens:
            max_tokens -= delta.tokens
            deltas.append(delta)
            files.append(_taken_over(each))
        else:
            files.append(_named_only(each, held))
    deltas.reverse()
    files.reverse()
    notice = _notice(files, window)
    return Settlement((*deltas, notice) if notice else tuple(deltas), tuple(files))


def pending_tokens(window: Window) -> int:
    """The estimated size of the texts that are pending."""
    return sum(_text_tokens(each) for each in window.pending.values())


def with_room(window: Window, max_tokens: int) -> Window:
    """`window`, whose pending texts are cut down to half of `max_tokens` once they take more, and whose pending files are
    MAX_PENDING_FILES at most, but for those that it knows; the newest stay."""
    if len(window.pending) > MAX_PENDING_FILES:
        window = _without_oldest(window, MAX_PENDING_FILES)
    # No text has more tokens than characters, which are counted at once.
    is_small = sum(len(each.text or "") for each in window.pending.values()) <= max_tokens
    if is_small or pending_tokens(window) <= max_tokens:
        return window
    left_tokens, pending = max_tokens // 2, dict(window.pending)
    for each in sorted(window.pending.values(), key=lambda each: each.at_s, reverse=True):
        left_tokens -= _text_tokens(each)
        if left_tokens < 0:
            pending[each.path] = replace(each, text=None)
    return replace(window, pending=pending)


def _without_oldest(window: Window, max_files: int) -> Window:
    unknown = sorted(
        (each for path, each in window.pending.items() if path not in window.files), key=lambda each: each.at_s
    )
    dropped = {each.path for each in unknown[: len(window.pending) - max_files]}
    return replace(window, pending={path: each for path, each in window.pending.items() if path not in dropped})


def changed_paths(before: Window, now: Window) -> tuple[str, ...]:
    """The files of which something else is pending `now` than `before`."""
    paths = dict.fromkeys((*before.pending, *now.pending))
    return tuple(path for path in paths if now.pending.get(path) is not before.pending.get(path))


def diff(old: str, new: str) -> str | None:
    """The unified diff without its file names; None where it is no shorter than DIFF_RATIO of the new text."""
    before, after = lines_of(old), lines_of(new)
    head = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(before, after, strict=False)))
    room = min(len(before), len(after)) - head
    tails = zip(reversed(before), reversed(after), strict=False)
    tail = min(room, sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], tails)))
    first = max(0, head - CONTEXT_LINES)
    old_part = before[first : len(before) - max(0, tail - CONTEXT_LINES)]
    new_part = after[first : len(after) - max(0, tail - CONTEXT_LINES)]
    if len(old_part) * len(new_part) > MAX_COMPARED_LINES:
        return None
    text = "\n".join(_hunks(old_part, new_part, first))
    return text if text and len(text) <= len(new) * DIFF_RATIO else None


def _hunks(before: Sequence[str], after: Sequence[str], first: int) -> Iterator[str]:
    """The hunks of two excerpts that both begin after line `first`."""
    matcher = difflib.SequenceMatcher(None, before, after)
    for group in matcher.get_grouped_opcodes(CONTEXT_LINES):
        (_, old_start, _, new_start, _), (_, _, old_end, _, new_end) = group[0], group[-1]
        yield (f"@@ -{first + old_start + 1},{old_end - old_start} +{first + new_start + 1},{new_end - new_start} @@")
        for tag, i1, i2, j1, j2 in group:
            if tag == "equal":
                yield from (f" {line}" for line in before[i1:i2])
                continue
            yield from (f"-{line}" for line in before[i1:i2])
            yield from (f"+{line}" for line in after[j1:j2])


def _file_delta(seen: Observation, held: FileContext | None) -> Delta | None:
    """The message about one file's text; None where the text is the one already held."""
    assert seen.text is not None
    path, count = one_line(seen.path), f"{seen.changes} changes" if seen.changes > 1 else "one change"
    if held is None or held.content is None:
        text = f"[Observation] The text of {path} as it is now:\n{file_text(seen.path, seen.text)}"
        return Delta(0, text, (seen.path,))
    if held.content == seen.text:
        return None
    changed = diff(held.content, seen.text)
    if changed is None:
        text = f"[Observation] {path} changed ({count} since the last question). Its text now:\n"
        return Delta(0, text + file_text(seen.path, seen.text), (seen.path,))
    text = f"[Observation] {path} changed ({count} since the last question), against its text above:\n"
    return Delta(0, text + fenced("diff", changed, path=seen.path), (seen.path,))


def _taken_over(seen: Observation) -> FileContext:
    return FileContext(
        seen.path,
        seen.sha256,
        seen.size_bytes,
        seen.mtime_ns,
        seen.at_s,
        seen.origin,
        seen.state,
        seen.text,
        used_at_s=seen.at_s,
    )


def _named_only(seen: Observation, held: FileContext | None) -> FileContext:
    """The file after an observation whose text is not sent: what prompts carry of it stays, and is stale where the tree
    has another text by now."""
    if held is None:
        return replace(_taken_over(seen), content=None)
    if seen.state != "fresh":
        return replace(held, state=seen.state)
    if held.content is None:
        return replace(_taken_over(seen), content=None)
    if seen.text is None or seen.text == held.content:
        is_same = seen.text is not None or seen.sha256 == held.sha256
        return replace(held, state="fresh" if is_same else "stale")
    return replace(held, state="stale")


def _notice(files: Sequence[FileContext], window: Window) -> Delta | None:
    """One message for all files whose state changed without their text being sent."""
    was = {file.path: window.files[file.path].state for file in files if file.path in window.files}
    news = [file for file in files if file.path in was and was[file.path] != file.state]
    back = [file.path for file in news if file.state == "fresh" and _is_as_before(file, window)]
    changed = [file.path for file in news if file.state == "stale"]
    gone = [file.path for file in news if file.state == "deleted"]
    sentences = (
        _sentence("These files changed since you saw them, read them again before you rely on them", changed),
        _sentence(
            "These files are no longer there (deleted, moved or renamed: look for them before you cite them)", gone
        ),
        _sentence("These files are again as you saw them", back),
    )
    said = [sentence for sentence in sentences if sentence]
    if not said:
        return None
    return Delta(0, "[Observation] " + "\n".join(said), tuple(sorted((*changed, *gone, *back))))


def _is_as_before(file: FileContext, window: Window) -> bool:
    held = window.files[file.path]
    return file.content == held.content and (file.content is not None or file.sha256 == held.sha256)


def _sentence(words: str, paths: Sequence[str]) -> str:
    return f"{words}: {', '.join(one_line(path) for path in sorted(paths))}." if paths else ""


def _text_tokens(seen: Observation) -> int:
    text = seen.text or ""
    return (
        -(-len(text) // CHARS_PER_TOKEN) if text.isascii() else estimate_tokens(text)
    )  # thousands of them at each notice
