"""`make bench [ONLY=name…]`: run every bench_*.py of this folder and print the table of figures beside targets."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent


def main(only: list[str]) -> int:
    """Run the named benchmarks (all without a name) one after the other; a benchmark that fails ends the run."""
    sys.path[:0] = [str(ROOT / "runtime"), str(ROOT / "bin"), str(ROOT / "hooks"), str(ROOT / "tests")]
    table = importlib.import_module("bench.table")
    rows = []
    for path in sorted(HERE.glob("bench_*.py")):
        name = path.stem.removeprefix("bench_")
        if only and name not in only:
            continue
        print(f"… {name}", file=sys.stderr, flush=True)
        rows += importlib.import_module(f"bench.{path.stem}").run()
    print(table.render(rows))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
