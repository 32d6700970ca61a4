"""A client that saves and searches without a pause until the file STOP exists, and writes down what it was told: one JSON
object a line.

    python note_client.py PORT TOKEN CWD NUMBER STOP

A line `sent` stands before each save leaves, a line `kept` after it was acknowledged; then what it took to find the note
again. A server that is gone is asked again; anything else that is no answer is a line `trouble`.
"""

from __future__ import annotations

import http.client
import json
import os
import sys
import time
from contextlib import closing
from typing import Any
from urllib.parse import quote

PATIENCE_S = 30.0
REST_S = 0.02
UPDATED_EVERY = 3


class Client:
    """One of several, by its number."""

    def __init__(self, port: str, token: str, cwd: str, number: str) -> None:
        self._port, self._cwd, self._number = int(port), cwd, number
        self._headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}

    def live(self, stop: str) -> None:
        count = 0
        while not os.path.exists(stop):
            count += 1
            word = f"w{self._number}x{count}"
            note_id = self._save({"title": f"Client {self._number} tells {count}", "body": f"The word {word} is kept."})
            if note_id and count % UPDATED_EVERY == 0:
                self._save({"id": note_id, "title": "Told again", "body": f"The word {word} is kept, said anew."})
            if note_id:
                self._find(word, note_id)

    def _save(self, note: dict[str, str]) -> str:
        tell("sent", body=note["body"])
        began_s = time.perf_counter()
        said = self._exchange("POST", "/notes", {"cwd": self._cwd, **note})
        if not said:
            return ""
        tell("kept", id=said["id"], body=note["body"], took_s=time.perf_counter() - began_s)
        return str(said["id"])

    def _find(self, word: str, note_id: str) -> None:
        began_s = time.perf_counter()
        said = self._exchange("GET", f"/search?cwd={quote(self._cwd)}&q={word}", None)
        if not said:
            return
        found = [result["id"] for result in said["results"]]
        if found[:1] == [note_id]:
            tell("found", took_s=time.perf_counter() - began_s)
        else:
            tell("trouble", what=f"{note_id} is not found first by {word}, but {found}")

    def _exchange(self, method: str, path: str, body: object) -> dict[str, Any] | None:
        """What the server said; None where it went away over it."""
        try:
            with closing(http.client.HTTPConnection("127.0.0.1", self._port, timeout=PATIENCE_S)) as connection:
                connection.request(method, path, json.dumps(body) if body else None, self._headers)
                response = connection.getresponse()
                said = response.read()
        except (OSError, http.client.HTTPException):
            time.sleep(REST_S)
            return None
        if response.status != http.client.OK:
            tell("trouble", what=f"{method} {path}: {response.status} {said[:300]!r}")
            return None
        answer: dict[str, Any] = json.loads(said)
        return answer


def tell(event: str, **what: object) -> None:
    print(json.dumps({"event": event, **what}), flush=True)


if __name__ == "__main__":
    Client(*sys.argv[1:5]).live(sys.argv[5])
