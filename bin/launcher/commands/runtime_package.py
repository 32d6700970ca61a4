"""The way to the runtime's package, for the commands that need its settings; only its stdlib layers can be imported."""

from __future__ import annotations

import sys

from launcher import paths


def reachable() -> None:
    """Let `import live_memory` find this plugin's own."""
    if paths.RUNTIME not in sys.path:
        sys.path.append(paths.RUNTIME)
