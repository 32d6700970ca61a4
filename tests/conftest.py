"""What holds for every test: a property is judged by its outcome, never by its time."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")
