"""docs/settings.md as the settings table gives it; `make docs` writes it, a test keeps it equal."""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HEAD = """# Settings

A value comes from the environment (`LIVE_MEMORY_<NAME>`), else from the plugin's options in Claude Code, else from
`config.json` in the data folder (`live-memory config set name=value`), else it is the default. A running server takes
changes over at once where they were made with `live-memory config`; the environment is read when the server starts.
A value that is not allowed is refused with a sentence, and what was in force stays in force.
"""
TABLE = """
## {topic}

| setting | environment | default | allowed | what it does |
|---|---|---|---|---|
"""
TAIL = """
Two more are read by the launcher alone, since they are needed before any setting can be read:
`LIVE_MEMORY_DATA_DIR` is the data folder, and `LIVE_MEMORY_WHEELHOUSE` a folder of wheels to install from in place of an index.
`HTTPS_PROXY`, `SSL_CERT_FILE`, `PIP_INDEX_URL`, `UV_INDEX_URL` and their like reach the installer as they are.
"""


def page() -> str:
    """The whole page as Markdown."""
    sys.path.insert(0, str(ROOT / "runtime"))
    from live_memory.settings import SETTINGS

    def shown(value: object) -> str:
        if value is None or value == "":
            return "(empty)"
        return f"`{str(value).lower() if isinstance(value, bool) else value}`"

    tables: dict[str, str] = {}
    for row in SETTINGS.values():
        line = f"| `{row.name}` | `{row.env_name}` | {shown(row.default)} | {row.allowed} | {row.help} |\n"
        tables[row.topic] = tables.get(row.topic, TABLE.format(topic=row.topic)) + line
    return HEAD + "".join(tables.values()) + TAIL


if __name__ == "__main__":
    (ROOT / "docs" / "settings.md").write_text(page(), encoding="utf-8")
