"""JSON by the C halves of the standard library's: the same values, the same text, the same refusals."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from hooks.calls import ROOT
from hypothesis import given
from hypothesis import strategies as st

import _quick

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=12,
)


@given(values)
def test_a_value_is_written_and_read_as_json_does(value: object) -> None:
    assert _quick.render(value) == json.dumps(value)
    assert _quick.parse(json.dumps(value, ensure_ascii=False, indent=1)) == value


@given(st.text(alphabet='{}[]",:0123456789.eE+-truefalsn \n\\u'))
def test_what_json_refuses_is_refused(text: str) -> None:
    try:
        expected = json.loads(text)
    except ValueError:
        with pytest.raises(json.JSONDecodeError):
            _quick.parse(text)
    else:
        assert _quick.parse(text) == expected


def test_what_is_nested_too_deeply_is_refused_as_what_is_no_json_is() -> None:
    with pytest.raises(ValueError, match="deep"):
        _quick.parse("[" * 100_000)


def test_an_interpreter_without_the_c_halves_gets_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_quick, "_json", None)
    assert _quick.parse(' {"a": [1, 2.5, null]} ') == {"a": [1, 2.5, None]}
    assert _quick.render({"a": ["ä"]}) == '{"a": ["\\u00e4"]}'


FAST = sorted({path.stem for path in (ROOT / "hooks").glob("*.py")} - {"user_prompt_expansion"})  # it runs a program


@pytest.mark.parametrize("script", FAST)
def test_a_hook_that_is_counted_in_milliseconds_imports_none_of_the_slow_modules(script: str) -> None:
    program = f"import sys; sys.path.insert(0, 'hooks'); import {script}; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-ESs", "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    assert not {"json", "re", "enum", "socket", "subprocess", "functools"} & set(done.stdout.split())
