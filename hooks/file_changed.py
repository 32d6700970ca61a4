"""The FileChanged hook: tells the server of a watched file that somebody else changed, brought back or deleted.

Which files are watched is what the SessionStart hook answers. A question finds such changes by itself; this is only earlier.
"""

from __future__ import annotations

import os

import _event

EVENTS = ("change", "add", "unlink")


def main(event: dict[str, object]) -> None:
    what = event.get("event")
    if what not in EVENTS:
        return
    cwd = _event.text(event, "cwd")
    path = os.path.join(cwd, _event.text(event, "file_path"))
    _event.Wire().post("/notify", {"cwd": cwd, "event": what, "paths": [path]})


if __name__ == "__main__":
    with _event.harmless:
        main(_event.told())
