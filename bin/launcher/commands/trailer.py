"""The account of an answer in one line, for people: what it took, what it cost, whether its citations hold."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

MS_PER_S = 1000


def trailer(answer: Mapping[str, object]) -> str:
    """`answer` is the body of `POST /ask`."""
    usage = _fields(answer, "usage")
    context = _fields(answer, "context")
    prompt = sum(_number(usage, name) for name in ("input_tokens", "cache_read_tokens", "cache_write_tokens"))
    parts = [str(answer.get("model", "")), f"{_number(answer, 'latency_ms') / MS_PER_S:.1f} s"]
    if prompt:
        cached = _number(usage, "cache_read_tokens") / prompt
        parts.append(f"{prompt:,.0f} tokens in ({cached:.0%} cached), {_number(usage, 'output_tokens'):,.0f} out")
        parts.append(money(answer.get("cost_usd")))
        parts.append(f"window {_number(context, 'ratio'):.0%} full")
    parts += _citations(answer)
    if answer.get("timed_out"):
        parts.append("out of time: this is what was known by then")
    return " · ".join(part for part in parts if part)


def money(cost_usd: object) -> str:
    """A price in dollars: whole cents, finer only below a dollar and where there is more to say; "cost n/a" for None."""
    if not isinstance(cost_usd, (int, float)):
        return "cost n/a"
    cents, finer = f"{cost_usd:.4f}"[:-2], f"{cost_usd:.4f}"[-2:]
    return f"${cost_usd:.2f}" if cost_usd >= 1 or finer == "00" else f"${cents}{finer.rstrip('0')}"


def _citations(answer: Mapping[str, object]) -> list[str]:
    listed = answer.get("citations")
    states = Counter(one["state"] for one in listed if isinstance(one, dict)) if isinstance(listed, list) else Counter()
    shown = ", ".join(f"{count} {str(state).lower()}" for state, count in sorted(states.items()))
    return [f"citations: {shown}"] if shown else []


def _fields(answer: Mapping[str, object], name: str) -> Mapping[str, object]:
    value = answer.get(name)
    return value if isinstance(value, dict) else {}


def _number(fields: Mapping[str, object], name: str) -> float:
    value = fields.get(name)
    return value if isinstance(value, (int, float)) else 0
