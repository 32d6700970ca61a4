"""A wheel of our own, small enough to be installed in every test."""

from __future__ import annotations

import base64
import hashlib
import zipfile
from pathlib import Path

MODULE = "lantern"


def a_wheel(folder: Path) -> str:
    """A wheel with one module in `folder`; the line of a lock file that asks for it."""
    folder.mkdir(exist_ok=True)
    wheel = folder / f"{MODULE}-1.0-py3-none-any.whl"
    files = {
        f"{MODULE}.py": "LIGHT = 1\n",
        f"{MODULE}-1.0.dist-info/METADATA": f"Metadata-Version: 2.1\nName: {MODULE}\nVersion: 1.0\n",
        f"{MODULE}-1.0.dist-info/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    digests = {name: base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()) for name, text in files.items()}
    rows = [f"{name},sha256={digest.decode().rstrip('=')},{len(files[name])}" for name, digest in digests.items()]
    files[f"{MODULE}-1.0.dist-info/RECORD"] = "\n".join([*rows, f"{MODULE}-1.0.dist-info/RECORD,,"]) + "\n"
    with zipfile.ZipFile(wheel, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return f"{MODULE}==1.0 --hash=sha256:{hashlib.sha256(wheel.read_bytes()).hexdigest()}\n"
