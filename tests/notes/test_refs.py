"""What of a body is a citation of another note."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from live_memory.notes.refs import lifted
from live_memory.notes.slugs import is_id


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("See #why-a-port, and (#second_one).", ("why-a-port", "second_one")),
        (
            "#at-the-start: [#in-brackets] #v1.2 #why-a-port. #why-a-port",
            ("at-the-start", "in-brackets", "v1.2", "why-a-port"),
        ),
        ("Issue #123 and PR #45: #2nd-factor is one.", ("2nd-factor",)),
        ("# Heading\n## Another\n#no-heading", ("no-heading",)),
        ("```sh\ngit log #not-this\n```\n#this", ("this",)),
        ("~~~\n#not-this\n```\n#nor-this\n~~~\n#this", ("this",)),
        ("````\n```\n#not-this\n````\n#this", ("this",)),
        ("```\n#never-closed", ()),
        ("Use `#not-this` and ``#nor`this`` but #this.", ("this",)),
        ("https://x.dev/a#fragment page#anchor [link](#target) C#sharp &#x27; a/#b", ()),
        ("#fff #a1b2c3 #FFFFFF #facade", ("facade",)),
        ("#include <stdio.h> #define X #[derive(Debug)] #!/bin/sh", ()),
        ("会话见#session-note，还有 #另一个", ()),
        ("记在 #session-note。", ("session-note",)),
        ("", ()),
    ],
)
def test_citations_in_prose_are_lifted_and_nothing_else(body: str, expected: tuple[str, ...]) -> None:
    assert lifted(body) == expected


@given(st.text(st.sampled_from("#`~ab1-._ \n()[]/"), max_size=60))
def test_what_is_lifted_is_always_an_id_and_stands_once(body: str) -> None:
    found = lifted(body)
    assert all(is_id(name) for name in found)
    assert len(set(found)) == len(found)
