"""`live-memory dream`: tidy the notes of a repository, rehearse that, see how far it is, or take the last one back."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping

from launcher import paths
from launcher.commands import facts, note_lines, note_server, options
from launcher.errors import UsageError
from launcher.terminal import printable

USAGE = "dream [undo] [--force | --dry-run | --status] [--cwd DIR] [--json]"
FLAGS = {"--force": "force", "--dry-run": "dry-run", "--status": "status"}
POLL_S = 2.0
POLLED_S = 80.0  # below what a slash command waits; a longer run goes on without anybody looking
SHOWN = 10  # of each kind of deed
HEADINGS = {
    "disputed": "contradict each other (both are kept, the newest first)",
    "settled": "dispute is settled",
    "merged": "merged (the second went into the first)",
    "reworded": "reworded after its files",
    "given grace": "most of its code is gone: expires in 7 days unless it is used",
    "given up": "most of its code is gone",
    "doubtful": "most of its code is gone, kept all the same (P0)",
    "verified": "verified again",
    "rewritten": "fact rewritten",
    "retired": "fact retired",
    "indexed": "index of one topic",
    "unindexed": "index without notes",
    "expired": "expired",
    "passed over": "changed meanwhile, left alone",
    "refused": "proposed by the model, not borne out",
}


def run(arguments: list[str]) -> int:
    kinds = {**options.CWD, **options.JSON, **dict.fromkeys(FLAGS, "flag")}
    parsed = options.parse(arguments, USAGE, kinds, max_words=1)
    mode = _mode(parsed)
    body = {"cwd": options.folder(parsed), "mode": mode}
    answer = note_server.ask(paths.place(), "POST", "/dream", body)
    if mode in ("run", "force", "dry-run") and answer.get("state") == "running":
        answer = _followed(answer, body)
    if options.form(parsed) == "json":
        return note_lines.print_json(answer)
    note_lines.print_lines(printable(line) for line in lines(answer, mode))
    return 0


def lines(answer: Mapping[str, object], mode: str) -> Iterator[str]:
    """What is said of an answer."""
    state, report = answer.get("state"), _object(answer.get("report"))
    if state == "gated":
        yield f"Not yet: {_object(answer.get('gate')).get('why')}. `live-memory dream --force` does it now."
    elif state == "undone":
        yield f"Taken back: {answer.get('changes')} changes of the last dream."
    elif state == "done":
        yield f"{'This is what a dream would do' if mode == 'dry-run' else 'Done'}: {_summary(report)}"
        yield from _deeds(report)
    elif mode == "status":
        yield from _status(answer)
    else:
        yield f"Under way ({report.get('phase', 'beginning')}); `live-memory dream --status` shows how far it is."


def _mode(parsed: options.Parsed) -> str:
    chosen = [mode for flag, mode in FLAGS.items() if flag in parsed.options]
    if parsed.words:
        chosen += [word if word == "undo" else "" for word in parsed.words]
    if len(chosen) > 1 or "" in chosen:
        raise UsageError(f"usage: live-memory {USAGE}")
    return chosen[0] if chosen else "run"


def _followed(answer: dict[str, object], body: Mapping[str, str]) -> dict[str, object]:
    """How it ended, if it did so in time."""
    until_s = time.monotonic() + POLLED_S
    if body["mode"] == "dry-run":  # asking again joins the one that is under way
        while answer.get("state") == "running" and time.monotonic() < until_s:
            answer = note_server.ask(paths.place(), "POST", "/dream", body)
        return answer
    while time.monotonic() < until_s:
        time.sleep(POLL_S)
        status = note_server.ask(paths.place(), "POST", "/dream", {**body, "mode": "status"})
        if status.get("state") != "running":
            last = _object(status.get("last"))
            return {"state": "done", "batch": last.get("batch"), "report": last.get("report")}
        answer = {"state": "running", "report": status.get("report")}
    return answer


def _status(answer: Mapping[str, object]) -> Iterator[str]:
    gate, last = _object(answer.get("gate")), _object(answer.get("last"))
    yield f"{str(answer.get('state', '')).capitalize()}."
    yield "The gate is open." if gate.get("is_open") else f"The gate is shut: {gate.get('why')}."
    if last:
        yield f"The last dream was on {last.get('day')}: {_summary(_object(last.get('report')))}"
        yield from _deeds(_object(last.get("report")))
    else:
        yield "There was no dream here yet."


def _summary(report: Mapping[str, object]) -> str:
    counts = _object(report.get("counts"))
    counted = ", ".join(f"{count} {deed}" for deed, count in counts.items()) or "nothing to do"
    took_s = report.get("took_s")
    took = f" in {facts.duration(took_s)}" if isinstance(took_s, (int, float)) else ""
    return f"{report.get('notes', 0)} notes{took}; {counted}."


def _deeds(report: Mapping[str, object]) -> Iterator[str]:
    for deed, listed in _object(report.get("listed")).items():
        if not isinstance(listed, list) or not listed:
            continue
        yield ""
        yield f"{HEADINGS.get(deed, deed)}:"
        for each in listed[:SHOWN]:
            told = _object(each)
            ids = told.get("ids")
            named = ", ".join(f"#{one}" for one in ids) if isinstance(ids, list) else ""
            yield f"  {named}" + (f": {told['why']}" if told.get("why") else "")
        count = _object(report.get("counts")).get(deed)
        if isinstance(count, int) and count > SHOWN:
            yield f"  and {count - min(SHOWN, len(listed))} more"
    left = _object(report.get("left_undone"))
    if left:
        yield ""
        yield from (f"Left undone ({what}): {why}." for what, why in left.items())


def _object(value: object) -> Mapping[str, object]:
    return value if isinstance(value, Mapping) else {}
