"""What comes while the desk closes."""

from __future__ import annotations

from pathlib import Path

import pytest
from agent.scene import make_scene

from live_memory.errors import QuestionError


@pytest.mark.parametrize("call", ["clear", "reset"])
async def test_a_window_is_not_forgotten_once_the_desk_has_closed(tmp_path: Path, call: str) -> None:
    scene = make_scene(tmp_path, ["An answer."])
    await scene.ask("Why?")
    await scene.desk.close(1.0)
    with pytest.raises(QuestionError) as refused:
        await getattr(scene.desk, call)(str(scene.root))
    assert (refused.value.code, refused.value.status) == ("draining", 503)
