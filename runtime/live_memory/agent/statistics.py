"""The figures of `/stats` that come from the window and the accounts."""

from __future__ import annotations

from live_memory.agent.prompting import prompt_text
from live_memory.agent.seat import ModelSeat
from live_memory.agent.workspace import Workspace
from live_memory.store.base import Store
from live_memory.window.messages import ToolSpec
from live_memory.window.prompt import prefix_tokens


def account_figures(store: Store, workspace: Workspace | None, day: str) -> dict[str, object]:
    """Questions, costs and tokens of a workspace, of all of them where None."""
    root = workspace.key if workspace else ""
    total, today = store.account(root), store.account(root, day)
    return {
        "questions": total.questions,
        "questions_today": today.questions,
        "requests": total.requests,
        "cost_usd": round(total.cost_usd, 6),
        "cost_today_usd": round(today.cost_usd, 6),
        "unpriced_questions": total.unpriced,
        "tokens": {
            "input_tokens": total.usage.input_tokens,
            "cache_read_tokens": total.usage.cache_read_tokens,
            "cache_write_tokens": total.usage.cache_write_tokens,
            "output_tokens": total.usage.output_tokens,
        },
    }


def window_figures(
    store: Store, workspace: Workspace | None, seat: ModelSeat, tools: tuple[ToolSpec, ...]
) -> dict[str, object]:
    """Fill, messages, files and queue of a workspace; nothing where None."""
    if workspace is None:
        return {"root": ""}
    saved = None if workspace.window else store.load(workspace.key)
    window = workspace.window or (saved.window if saved else None)
    used_tokens = prefix_tokens(prompt_text("system"), window, tools) if window else 0
    max_tokens = seat.budget(seat.answer_tokens(0)).max_tokens if window and seat.model else 0
    return {
        "root": workspace.key,
        "context": {
            "used_tokens": used_tokens,
            "max_tokens": max_tokens,
            "ratio": round(used_tokens / max_tokens, 4) if max_tokens else 0.0,
        },
        "messages": len(window.history.turns) if window else 0,
        "exchanges_left_out": window.left_out if window else 0,
        "files_known": len(window.files) if window else 0,
        "running": workspace.admission.running,
        "waiting": workspace.admission.waiting,
    }
