"""The figures of `/stats` that come from the window, the provider's cache and the accounts."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime
from typing import get_args

from live_memory.agent.cleaning import Tally
from live_memory.agent.prompting import prompt_text
from live_memory.agent.seat import ModelSeat
from live_memory.agent.spend import BACKGROUND, budget_tokens
from live_memory.agent.workspace import Workspace
from live_memory.clock import Clock
from live_memory.llm.base import Purpose
from live_memory.settings import Settings, roots_without_redaction
from live_memory.store.base import Account, Store, utc_day
from live_memory.text.tokens import estimate_tokens
from live_memory.window.files import FileState
from live_memory.window.messages import ToolSpec
from live_memory.window.prompt import prefix_tokens
from live_memory.window.window import Window


def seat_figures(seat: ModelSeat) -> dict[str, object]:
    """Who answers, and why."""
    return {
        "provider": seat.choice.provider or seat.choice.kind,
        "model": seat.choice.model or "passages",
        "why": seat.why,
        "is_metered": not seat.is_on_subscription,
    }


def account_figures(store: Store, workspace: Workspace | None, day: str) -> dict[str, object]:
    """Questions, costs and tokens of a workspace, of all of them where None."""
    root = workspace.key if workspace else ""
    by_purpose = {purpose: store.account(root, purpose=purpose) for purpose in get_args(Purpose)}
    total, today = sum(by_purpose.values(), Account()), store.account(root, day)
    return {
        "questions": total.questions,
        "questions_today": today.questions,
        "requests": total.requests,
        "cost_usd": round(total.cost_usd, 6),
        "cost_today_usd": round(today.cost_usd, 6),
        "saved_by_cache_usd": round(total.saved_usd, 6),
        "saved_by_cache_today_usd": round(today.saved_usd, 6),
        "unpriced_questions": by_purpose["question"].unpriced,
        "tokens": {
            "input_tokens": total.usage.input_tokens,
            "cache_read_tokens": total.usage.cache_read_tokens,
            "cache_write_tokens": total.usage.cache_write_tokens,
            "output_tokens": total.usage.output_tokens,
            "share_read_from_cache_ratio": _ratio(total.usage.cache_read_tokens, total.usage.prompt_tokens),
        },
        "cost_of": {
            f"{purpose.replace('-', '_')}_usd": round(by_purpose[purpose].cost_usd, 6) for purpose in by_purpose
        },
    }


def budget_figures(store: Store, settings: Settings, now_s: float) -> dict[str, object]:
    """What is left of the day's budgets, over all workspaces; nothing where none is set."""
    day = utc_day(now_s)
    spent = store.account(day=day)
    background = sum((store.account(day=day, purpose=purpose) for purpose in BACKGROUND), Account())
    figures: dict[str, object] = {}
    if cap_usd := settings.daily_budget_usd:
        figures["left_today_usd"] = round(max(0.0, cap_usd - spent.cost_usd), 6)
        share_usd = cap_usd * settings.background_budget_ratio
        figures["left_today_in_background_usd"] = round(max(0.0, share_usd - background.cost_usd), 6)
    if cap_tokens := settings.daily_budget_tokens:
        figures["left_today_tokens"] = max(0, cap_tokens - budget_tokens(spent))
    return {"budget": figures} if figures else {}


def redaction_figures(workspace: Workspace | None, total: Tally, settings: Settings) -> dict[str, object]:
    """How many secrets were taken out since the server started, each time counted, and where none are."""
    figures: dict[str, object] = {"state": workspace.redaction.mode} if workspace else {}
    if workspace:
        figures["secrets_taken_out"] = workspace.tally.count
    figures["secrets_taken_out_everywhere"] = total.count
    if off := roots_without_redaction(settings):
        figures["off_in"] = list(off)
    return figures


def window_figures(
    workspace: Workspace | None, seat: ModelSeat, tools: tuple[ToolSpec, ...], clock: Clock
) -> dict[str, object]:
    """Fill, messages, files, cache and queue of a workspace; nothing where None."""
    if workspace is None:
        return {"root": ""}
    window = workspace.known_window()
    has_window = window != Window("")
    scripts = workspace.scripts
    used_tokens = seat.counted(prefix_tokens(prompt_text("system"), window, tools), scripts) if has_window else 0
    budget_of = seat.budget(seat.answer_tokens(0), scripts)
    max_tokens = seat.counted(budget_of.max_tokens, scripts) if has_window and seat.model else 0
    compaction = workspace.compaction
    return {
        "root": workspace.key,
        "context": {"used_tokens": used_tokens, "max_tokens": max_tokens, "ratio": _ratio(used_tokens, max_tokens)},
        "messages": len(window.history.turns),
        "exchanges_left_out": window.left_out,
        "files_known": len(window.files),
        "files": _file_figures(window),
        "ledger": {
            "facts": sum(line.startswith("- ") for line in window.ledger.splitlines()),
            "size_tokens": seat.counted(estimate_tokens(window.ledger), scripts),
        },
        "compactions": compaction.count,
        "compacted_at": _instant(compaction.last_at_s) if compaction.count else "",
        "cache": _cache_figures(workspace, seat, used_tokens, clock),
        "running": workspace.admission.running,
        "waiting": workspace.admission.waiting,
    }


def _file_figures(window: Window) -> dict[str, object]:
    """How many files are held in each state; `with_text` of them with their text, `changed` since the last question."""
    states = Counter(file.state for file in window.files.values())
    held = sum(file.content is not None for file in window.files.values())
    figures: dict[str, object] = {state: states[state] for state in get_args(FileState)}
    return figures | {"with_text": held, "changed": len(window.pending)}


def _cache_figures(workspace: Workspace, seat: ModelSeat, used_tokens: int, clock: Clock) -> dict[str, object]:
    gate, figures = workspace.gate, dict[str, object]()
    min_tokens = seat.card.cache_min_tokens if seat.card else 0
    if seat.model is None:
        return {"state": "unused"}
    if used_tokens < min_tokens:
        figures["state"] = "too short to be cached"
        figures["note"] = f"{seat.choice.model} caches from {min_tokens:,} tokens on; this window has {used_tokens:,}"
    elif gate.is_warm:
        figures["state"] = "warm"
        figures["warm_until"] = _instant(clock.wall_s() + gate.warm_left_s)
    else:
        figures["state"] = "cold"
    figures["lifetime_s"] = gate.lifetime_s
    if gate.broken:
        figures["last_broken_by"] = gate.broken.why
        figures["last_broken_at"] = _instant(gate.broken.at_s)
    return figures


def _ratio(part: float, whole: float) -> float:
    return round(part / whole, 4) if whole else 0.0


def _instant(at_s: float) -> str:
    return datetime.fromtimestamp(at_s, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
