"""Secrets are taken out of text; what only looks like one stays. Every positive is made at run time, none stands here."""

from __future__ import annotations

import random
import re
import string
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from live_memory.text.secrets import redact, redact_lines

ALNUM = string.ascii_letters + string.digits
UPPER = string.ascii_uppercase + string.digits
LOWER = string.ascii_lowercase + string.digits
HEX = "0123456789abcdef"
B64 = ALNUM + "+/"
URL64 = ALNUM + "-_"
SEEDS = range(5)


class Maker:
    """Random text as issuers draw it."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def __call__(self, alphabet: str, length: int) -> str:
        return "".join(self.random.choice(alphabet) for _ in range(length))


Make = Callable[[str, int], str]
SHAPES: dict[str, Callable[[Make], str]] = {
    "AWS key": lambda r: "AK" + "IA" + r(UPPER, 16),
    "AWS session key": lambda r: "AS" + "IA" + r(UPPER, 16),
    "Google key": lambda r: "AI" + "za" + r(URL64, 35),
    "Google OAuth token": lambda r: "ya" + "29." + r(URL64, 80),
    "Google secret": lambda r: "GOC" + "SPX-" + r(URL64, 28),
    "Azure secret": lambda r: r(ALNUM, 3) + "8Q" + "~" + r(ALNUM, 34),
    "GitHub token": lambda r: "gh" + "p_" + r(ALNUM, 36),
    "GitHub app token": lambda r: "gh" + "s_" + r(ALNUM, 36),
    "GitHub fine-grained token": lambda r: "github" + "_pat_" + r(ALNUM, 22) + "_" + r(ALNUM, 59),
    "GitLab token": lambda r: "gl" + "pat-" + r(URL64, 20),
    "Slack bot token": lambda r: "xo" + "xb-" + r(string.digits, 12) + "-" + r(ALNUM, 24),
    "Slack app token": lambda r: "xa" + "pp-1-" + r(UPPER, 11) + "-" + r(string.digits, 13) + "-" + r(HEX, 64),
    "Discord token": lambda r: "M" + r(URL64, 23) + "." + r(URL64, 6) + "." + r(URL64, 27),
    "Telegram token": lambda r: r("123456789", 9) + ":A" + "A" + r(URL64, 33),
    "Stripe key": lambda r: "sk" + "_live_" + r(ALNUM, 24),
    "Stripe test key": lambda r: "rk" + "_test_" + r(ALNUM, 24),
    "webhook secret": lambda r: "wh" + "sec_" + r(ALNUM, 32),
    "Anthropic key": lambda r: "sk" + "-ant-api03-" + r(URL64, 93) + "AA",
    "Anthropic OAuth token": lambda r: "sk" + "-ant-oat01-" + r(URL64, 93) + "AA",
    "OpenAI key": lambda r: "sk" + "-proj-" + r(URL64, 100),
    "OpenAI old key": lambda r: "sk" + "-" + r(ALNUM, 48),
    "DeepSeek key": lambda r: "sk" + "-" + r(HEX, 32),
    "OpenRouter key": lambda r: "sk" + "-or-v1-" + r(HEX, 64),
    "Groq key": lambda r: "gs" + "k_" + r(ALNUM, 52),
    "xAI key": lambda r: "xa" + "i-" + r(ALNUM, 80),
    "Hugging Face token": lambda r: "h" + "f_" + r(string.ascii_letters, 34),
    "npm token": lambda r: "np" + "m_" + r(ALNUM, 36),
    "PyPI token": lambda r: "py" + "pi-" + r(URL64, 150),
    "Docker token": lambda r: "dck" + "r_pat_" + r(URL64, 27),
    "SendGrid key": lambda r: "S" + "G." + r(URL64, 22) + "." + r(URL64, 43),
    "Mailgun key": lambda r: "ke" + "y-" + r(HEX, 32),
    "Twilio key": lambda r: "S" + "K" + r(HEX, 32),
    "DigitalOcean token": lambda r: "do" + "p_v1_" + r(HEX, 64),
    "Linear key": lambda r: "lin" + "_api_" + r(ALNUM, 40),
    "Notion token": lambda r: "nt" + "n_" + r(ALNUM, 46),
    "Shopify token": lambda r: "shp" + "at_" + r(HEX, 32),
    "Databricks token": lambda r: "da" + "pi" + r(HEX, 32),
    "Grafana token": lambda r: "gl" + "sa_" + r(ALNUM, 32) + "_" + r(HEX, 8),
    "Vault token": lambda r: "hv" + "s." + r(URL64, 90),
    "Terraform token": lambda r: r(ALNUM, 14) + ".atla" + "sv1." + r(URL64, 67),
    "age key": lambda r: "AGE-SEC" + "RET-KEY-1" + r(UPPER, 58),
    "JSON web token": lambda r: "ey" + "J" + r(URL64, 33) + ".ey" + "J" + r(URL64, 60) + "." + r(URL64, 43),
}
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


def test_passwords_that_people_chose_are_taken_out_behind_their_name() -> None:
    make = Maker(1)
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


def key_block(kind: str, lines: int = 12) -> list[str]:
    make = Maker(7)
    dashes = "-" * 5
    body = [make(B64, 64) for _ in range(lines)]
    return [f"{dashes}BEGIN {kind}PRIVATE KEY{dashes}", *body, f"{dashes}END {kind}PRIVATE KEY{dashes}"]


@pytest.mark.parametrize("kind", ["", "RSA ", "EC ", "OPENSSH ", "ENCRYPTED "])
@pytest.mark.parametrize("prefix", ["", "    ", "+", "> ", '"', "// "])
def test_a_private_key_is_taken_out_line_by_line(kind: str, prefix: str) -> None:
    block = key_block(kind)
    text = redact("\n".join(["before", *(prefix + line for line in block), "after"]))
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


def test_a_page_that_starts_inside_a_private_key_shows_none_of_it() -> None:
    lines = ["first", *key_block("RSA "), "last"]
    shown = redact_lines(lines, 5, len(lines))
    assert len(shown) == len(lines) - 5
    assert not any(line in "\n".join(shown) for line in lines[5:-1])
    assert shown[-1] == "last"


READABLE = """
AKIAIOSFODNN7EXAMPLE
aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY
password
the password is checked by check_password(user, password)
password = "password"
password: string;
password = input("Password: ")
def login(username: str, password: str) -> Token:
PASSWORD_MIN_LENGTH = 12
password_hash = "$2b$12$abcdefghijklmnopqrstuv"
const PASSWORD_REGEX = "^(?=.*[a-z])(?=.*[0-9]).{8,}$";
passwordResetUrl: "/v1/auth/reset-password2"
api_key = os.environ["API_KEY"]
apiKey: process.env.API_KEY_2024_PROD
api_key = settings.providers.openai2.api_key
api_key: ${API_KEY_V2_PRODUCTION}
api_key = "your-api-key-here-12345"
api_key = "<YOUR_API_KEY_1234567890>"
token = get_token_v2(request, 1234567890)
token = "test-token-1234567890"
max_tokens = 4096
tokenizer = "cl100k_base_2023_05_01"
next_page_token: str | None = None
secret_name = "prod/database/credentials2"
commit 3f786850e387550fdab836ed7e6dc881de23001b
sha256: 2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824
"integrity": "sha512-Yx3dEFyTzZ0C5oFyJ3yF3oA1mVtL2c8l0mN7yqK9mXoHqf5q3hJm2c1lPz8mK3c8d7r4Jp0a9B6uQk1x2w3v4A=="
checksum = "9fbc0f8e9c0e2d0b8a9d3e6f3c6a7d3f8c1b2a3d4e5f60718293a4b5c6d7e8f9"
resolved "https://registry.yarnpkg.com/lodash/-/lodash-4.17.21.tgz#679591c564c3bffaae8454cf0b3df370c3d6911c"
h1:5oN1P5iV1x1m3C7vYzX2yq1w8nQ0R9b7G6k4d2s1a0Q=
id = "550e8400-e29b-41d4-a716-446655440000"
client_secret = "550e8400-e29b-41d4-a716-446655440000"
etag: "33a64df551425fcc55e4d42a148795d9f25f89d4"
postgres://user:password@localhost:5432/db
postgres://postgres:postgres@db/app
password = "test1234"
DB_PASSWORD: my-secret
postgres://${USER}:${PASSWORD}@localhost/db
http://localhost:8080/path@2x.png
https://example.org/@scope/package
git@github.com:team/repo.git
Authorization: Bearer <token>
Authorization: Bearer ${TOKEN}
ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl user@host
data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==
primary_key = "user_id_2024_11_30_v2"
keyboard_shortcut: "ctrl+shift+alt+k2"
secret santa 2024 is on 2024-12-24
x-request-id: 7f3093c601278bc0
sk-ip this
xoxb
ghp_
-----BEGIN PUBLIC KEY-----
-----BEGIN CERTIFICATE-----
std::unordered_map<std::string, int> token_to_id2;
""".strip().split("\n")


@pytest.mark.parametrize("text", READABLE)
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
