"""Text that every encoder takes. JSON can spell half of a surrogate pair, or a pair in two pieces; neither is UTF-8."""

from __future__ import annotations


def whole_characters(text: str) -> str:
    """`text` with the halves of a pair joined where both are there, and a replacement character for a lone one."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text
