"""A JSON object as lines for people: its names say the units (`_usd`, `_tokens`, `_ratio`, `_s`, `_ms`, `_bytes`)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from launcher.commands.trailer import money

MINUTE_S = 60
HOUR_S = 3600
DAY_S = 86400
MS_PER_S = 1000
KILO = 1024
INDENT = "  "
AGO = "_s_ago"


def lines(facts: Mapping[str, object], indent: str = "") -> Iterator[str]:
    """A line for each value that says something, the objects inside below a heading of their own."""
    plain = {name: value for name, value in facts.items() if not isinstance(value, dict) and value != ""}
    width = max((len(label(name)) for name in plain), default=0)
    for name, value in plain.items():
        yield f"{indent}{label(name).ljust(width)}  {shown(name, value)}".rstrip()
    for name, value in facts.items():
        if isinstance(value, dict) and value:
            yield f"{indent}{label(name)}"
            yield from lines(value, indent + INDENT)


def label(name: str) -> str:
    """The name as words, without a unit that the value shows."""
    if name.endswith(AGO):
        return name.removesuffix(AGO).replace("_", " ")
    stem, _, unit = name.rpartition("_")
    return (stem if stem and unit in UNITS else name).replace("_", " ")


def shown(name: str, value: object) -> str:
    """The value with its unit."""
    if name.endswith(AGO):
        return f"{duration(value)} ago" if isinstance(value, (int, float)) else "never"
    if value is None:
        return "unknown"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, (int, float)):
        return UNITS.get(name.rpartition("_")[2], _number)(value)
    if isinstance(value, list):
        return ", ".join(str(one) for one in value) or "none"
    return str(value)


def duration(seconds: float) -> str:
    """Seconds in the two units that matter."""
    if seconds < MINUTE_S:
        return f"{seconds:.3g} s"
    if seconds < HOUR_S:
        return f"{seconds // MINUTE_S:.0f} min {seconds % MINUTE_S:.0f} s"
    if seconds < DAY_S:
        return f"{seconds // HOUR_S:.0f} h {seconds % HOUR_S // MINUTE_S:.0f} min"
    return f"{seconds // DAY_S:.0f} d {seconds % DAY_S // HOUR_S:.0f} h"


def size(count: float) -> str:
    """Bytes in the unit that leaves up to four digits."""
    for unit in ("B", "KiB", "MiB"):
        if count < KILO:
            return f"{count:.0f} {unit}" if unit == "B" else f"{count:.1f} {unit}"
        count /= KILO
    return f"{count:.1f} GiB"


def _number(value: float) -> str:
    return f"{value:,.4g}" if isinstance(value, float) else f"{value:,}"


UNITS: Mapping[str, Callable[[float], str]] = {
    "usd": money,
    "tokens": lambda value: f"{value:,.0f} tokens",
    "ratio": lambda value: f"{value:.0%}",
    "s": duration,
    "ms": lambda value: duration(value / MS_PER_S),
    "bytes": size,
}
