"""Secrets are taken out of text; what only looks like one stays. Every positive is made at run time, none stands here."""

from __future__ import annotations

import re
import string
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.secrets_corpus import (
    ALNUM,
    AROUND,
    B64,
    HEX,
    HOSTILE,
    LOOKALIKES,
    LOWER,
    SHAPES,
    Make,
    Maker,
    blocks,
    key_block,
    planted,
    values,
)

from live_memory.text.secrets import cleaned, cleaned_lines, redact

SEEDS = range(5)
SURROUNDINGS = (
    "{}",
    "key = '{}'",
    '{{"a": "{}"}}',
    "export X={}\n",
    "see {}.",
    "curl -H 'X: {}' https://h/",
    "({})",
    "a,{},b",
)


@pytest.mark.parametrize("kind", SHAPES)
def test_a_token_with_a_shape_of_its_own_is_taken_out_wherever_it_stands(kind: str) -> None:
    for seed in SEEDS:
        secret = SHAPES[kind](Maker(seed))
        for surrounding in SURROUNDINGS:
            text = redact(surrounding.format(secret))
            assert secret not in text
            assert secret[8:] not in text
            assert "[redacted: " in text


ASSIGNMENTS = (
    'api_key = "{}"',
    "apiKey: '{}',",
    '"apiKey": "{}",',
    "API_KEY={}",
    "export SERVICE_SECRET={}",
    'const clientSecret = "{}";',
    'let apiToken: string = "{}";',
    'os.environ["ACCESS_TOKEN"] = "{}"',
    "secret_key: {}",
    "  - name: AUTH_TOKEN\n    value: {}",
    "<apiKey>{}</apiKey>",
    '<add key="ApiKey" value="{}" />',
    "aws_secret_access_key = {}",
    "//registry.example.org/:_authToken={}",
    'private String accessKey = "{}";',
    'api_key := "{}"',
    ":api_key => '{}'",
    'setenv("SIGNING_SECRET", "{}")',
    'f(json="{{\\"api_key\\": \\"{}\\"}}")',
    "SECRET_TOKEN_PROD='{}'",
    "x-api-key: {}",
    "encryption_key=b'{}'",
)
RANDOM_VALUES: tuple[Callable[[Make], str], ...] = (
    lambda r: "a1" + r(HEX, 30),
    lambda r: "Z9" + r(ALNUM, 30),
    lambda r: "q7" + r(B64, 38),
    lambda r: "m4" + r(LOWER, 30),
)


@pytest.mark.parametrize("assignment", ASSIGNMENTS)
def test_a_random_value_behind_a_secret_s_name_is_taken_out(assignment: str) -> None:
    for seed in SEEDS:
        for value in RANDOM_VALUES:
            secret = value(Maker(seed))
            text = redact(assignment.format(secret))
            assert secret not in text, text
            assert text.startswith(assignment[:3].format())


@pytest.mark.parametrize("kind", AROUND)
def test_a_random_value_is_taken_out_where_what_stands_around_it_gives_it_away(kind: str) -> None:
    for seed in SEEDS:
        plant = next(each for each in values(seed) if each.kind == kind)
        text = redact(plant.text)
        assert not any(secret in text for secret in plant.secrets), text
        assert text.startswith(plant.text[:3])


@pytest.mark.parametrize("kind", [each.kind for each in blocks(0)])
def test_whatever_holds_a_private_key_is_shown_without_it(kind: str) -> None:
    for seed in SEEDS:
        plant = next(each for each in blocks(seed) if each.kind == kind)
        text = redact(plant.text)
        assert not any(secret in text for secret in plant.secrets), text
        assert text.count("\n") == plant.text.count("\n")


@pytest.mark.parametrize("length", [600, 4000, 100_000])
def test_a_value_of_any_length_is_taken_out_whole(length: int) -> None:
    secret = Maker(3)(B64, length)
    for text in ("SESSION_TOKEN={}\nx = 1\n", '{{"client_secret": "{}", "x": 1}}', "private_key: {}\nx: 1\n"):
        assert redact(text.format(secret)) == text.format("[redacted: secret]")


def test_a_secret_is_counted_once_each_time_it_is_taken_out() -> None:
    plants = planted(0)
    assert cleaned("nothing to see").count == 0
    for plant in plants:
        assert cleaned(plant.text).count >= 1, plant.kind
    token = SHAPES["GitHub token"](Maker(1))
    assert cleaned(f"{token}\n{token}").count == 2
    assert cleaned("\n".join(key_block("RSA "))).count == 1
    assert cleaned_lines(["a", token, "b"], 1, 2) == cleaned(token)


@pytest.mark.parametrize("sign", ["", "+", "-", " ", "> ", "# ", "    "])
def test_nothing_of_a_whole_page_of_secrets_is_left_in_a_diff_neither(sign: str) -> None:
    for seed in SEEDS:
        plants = planted(seed)
        lines = "\n\n".join(plant.text for plant in plants).split("\n")
        text = redact("\n".join(sign + line for line in lines))
        assert [plant.kind for plant in plants if any(secret in text for secret in plant.secrets)] == []


def test_nothing_of_it_is_left_on_any_line_shown_by_itself() -> None:
    plants = planted(0)
    lines = "\n\n".join(plant.text for plant in plants).split("\n")
    text = "\n".join(cleaned_lines(lines, number, number + 1).text for number in range(len(lines)))
    assert [plant.kind for plant in plants if any(secret in text for secret in plant.secrets)] == []


@pytest.mark.parametrize("piece", HOSTILE)
def test_text_made_to_be_slow_is_done_with(piece: str) -> None:
    text = piece * (1 + (1 << 15) // len(piece))
    assert redact(text).count("\n") == text.count("\n")


def test_passwords_that_people_chose_are_taken_out_behind_their_name() -> None:
    make = Maker(1)
    for line in ("POSTGRES_PASSWORD={}", "    MYSQL_ROOT_PASSWORD: {}", "db.password={}"):
        secret = "Summer" + make(string.digits, 4) + "!"
        assert secret not in redact(line.format(secret))
    for line in ('password = "{}"', "db_password: '{}'", '"passwd": "{}"', 'PWD="{}"', 'passphrase = "{}"'):
        for secret in ("Summer" + make(string.digits, 4) + "!", "Super" + "Secret" + make(string.digits, 3)):
            assert secret not in redact(line.format(secret))


@pytest.mark.parametrize(
    "text",
    [
        "postgres://admin:{}@db.internal:5432/app",
        "mongodb+srv://app:{}@cluster0.example.net/?retryWrites=true",
        "DATABASE_URL=mysql://root:{}@127.0.0.1/db",
        "redis://:{}@cache:6379/0",
        "https://user:{}@git.example.org/team/repo.git",
        "Server=db;Database=app;User Id=sa;Password={};Encrypt=true",
        "DefaultEndpointsProtocol=https;AccountName=x;AccountKey={}{}{}==",
        "machine api.example.org login me password {}",
        "curl -u admin:{} https://example.org/api",
        "Authorization: Bearer {}",
        "authorization: 'Basic {}'",
    ],
)
def test_credentials_inside_addresses_and_headers_are_taken_out(text: str) -> None:
    for seed in SEEDS:
        secret = "t0" + Maker(seed)(ALNUM, 22)
        assert secret not in redact(text.format(secret, secret, secret))


@pytest.mark.parametrize("kind", ["", "RSA ", "EC ", "OPENSSH ", "ENCRYPTED "])
@pytest.mark.parametrize(
    ("prefix", "suffix"),
    [
        ("", ""),
        ("    ", ""),
        ("+", ""),
        ("> ", ""),
        ('"', ""),
        ("// ", ""),
        ('    "', '\\n"'),
        ("'", "\\n' +"),
        ('  "', '\\r\\n",'),
    ],
)
def test_a_private_key_is_taken_out_line_by_line(kind: str, prefix: str, suffix: str) -> None:
    block = key_block(kind)
    text = redact("\n".join(["before", *(prefix + line + suffix for line in block), "after"]))
    assert text.count("\n") == len(block) + 1
    assert text.startswith("before\n")
    assert text.endswith("\nafter")
    assert not any(line in text for line in block)


def test_a_private_key_on_one_line_is_taken_out() -> None:
    block = key_block("RSA ")
    text = redact('{"key": "' + "\\n".join(block) + '\\n", "next": 1}')
    assert not any(line in text for line in block[1:-1])
    assert text.endswith('", "next": 1}')


def test_a_private_key_that_is_cut_off_is_taken_out_to_the_cut() -> None:
    block = key_block("")[:-1]
    assert not any(line in redact("\n".join(block)) for line in block[1:])


@pytest.mark.parametrize("first", [1, 5, 10])
def test_a_private_key_whose_beginning_is_elsewhere_is_taken_out_from_its_end(first: int) -> None:
    block = [*key_block("RSA ")[first:-1], "aB3=", key_block("RSA ")[-1]]
    text = redact("\n".join(["@@ -5,9 +5,9 @@", *(f"+{line}" for line in block), " after = 1"]))
    assert text.split("\n")[0] == "@@ -5,9 +5,9 @@"
    assert text.split("\n")[-1] == " after = 1"
    assert text.count("\n") == len(block) + 1
    assert not any(line in text for line in block)


def test_a_private_key_on_one_line_whose_beginning_is_elsewhere_is_taken_out() -> None:
    text = redact("\\n".join(key_block("RSA ")[4:]) + '\\n", "next": 1}')
    assert text == '[redacted: private key]\\n", "next": 1}'


def test_a_page_that_starts_inside_a_private_key_shows_none_of_it() -> None:
    lines = ["first", *key_block("RSA "), "last"]
    shown = cleaned_lines(lines, 5, len(lines)).text.split("\n")
    assert len(shown) == len(lines) - 5
    assert not any(line in "\n".join(shown) for line in lines[5:-1])
    assert shown[-1] == "last"


@pytest.mark.parametrize("text", LOOKALIKES)
def test_what_is_no_secret_stays_readable(text: str) -> None:
    assert redact(text) == text


def test_the_source_of_this_project_stays_readable() -> None:
    package = Path(__file__).resolve().parents[2] / "runtime" / "live_memory"
    for file in package.rglob("*.py"):
        text = file.read_text(encoding="utf-8")
        assert redact(text) == text, file


@given(st.text())
def test_lines_stay_where_they_are_and_redacting_twice_changes_nothing(text: str) -> None:
    once = redact(text)
    assert once.count("\n") == text.count("\n")
    assert redact(once) == once


@given(
    st.lists(
        st.sampled_from(
            [
                "api_key",
                "=",
                '"',
                " ",
                "\n",
                "password",
                "-----BEGIN PRIVATE KEY-----",
                "Zx81" * 6,
                ":",
                "Bearer",
                "a",
                "://",
                "@",
            ]
        ),
        max_size=40,
    )
)
def test_text_made_of_pieces_of_secrets_keeps_its_lines(pieces: list[str]) -> None:
    text = "".join(pieces)
    once = redact(text)
    assert once.count("\n") == text.count("\n")
    assert redact(once) == once


def test_code_about_private_keys_stays_readable() -> None:
    dashes = "-" * 5
    text = f'if text.startswith("{dashes}BEGIN PRIVATE KEY{dashes}"):\n    return\n}}\nelse\n    pass'
    assert redact(text).split("\n")[1:] == text.split("\n")[1:]


def test_this_page_holds_no_secret_itself() -> None:
    text = Path(__file__).read_text(encoding="utf-8")
    assert not re.search(r"AK" r"IA[A-Z0-9]{16}(?<!EXAMPLE)", text)
