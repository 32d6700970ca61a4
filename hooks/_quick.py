"""JSON for what is counted in milliseconds: the C halves of the standard library's `json`, without the modules around them.

`import json` alone takes longer than the interpreter's own start (it brings `re`, `enum`, `functools`, `collections`). The C
halves are private, so that whatever they refuse goes to `json` itself: slower, never wrong.
"""

from __future__ import annotations

try:
    import _json
except ImportError:  # an interpreter without them
    _json = None  # type: ignore[assignment]


class _Plain:
    """What the scanner reads its settings from: those of `json.loads`."""

    strict = True
    object_hook = None
    object_pairs_hook = None
    parse_float = float
    parse_int = int
    parse_constant = float


def _refuse(value: object) -> object:
    raise TypeError("%r is no JSON value" % (value,))


def parse(text: str) -> object:
    """The JSON value in `text`, as `json.loads` gives it; ValueError when it is none."""
    stripped = text.strip(" \t\n\r")
    try:
        value, end = _json.make_scanner(_Plain)(stripped, 0)  # type: ignore[arg-type]  # any object with these attributes does
        if end == len(stripped):
            return value
    except Exception:  # whatever it was, json says it better
        pass
    import json

    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def render(value: object) -> str:
    """`value` as JSON, as `json.dumps` writes it."""
    try:
        text_of = _json.encode_basestring_ascii
        encoder = _json.make_encoder({}, _refuse, text_of, None, ": ", ", ", False, False, True)
        return "".join(encoder(value, 0))
    except Exception:
        import json

        return json.dumps(value)
