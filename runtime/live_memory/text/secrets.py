"""Secrets in text, taken out by the shape of their values. Pure; every line stays where it is.

Three kinds: values whose issuer gave them a shape of their own (TOKENS), private key blocks, and values that stand
behind a name like `api_key` and look random. Each pattern has a literal that is looked for first and only bounded
repetitions, so time grows with the length of the text alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from live_memory.text.randomness import is_password, is_placeholder, is_random


@dataclass(frozen=True, slots=True)
class Token:
    """A shape of secret: the pattern, whose first group, if any, is the secret, and literals of which one begins every
    match (`front`) or occurs in it (`inside`)."""

    kind: str
    literals: tuple[str, ...]
    pattern: re.Pattern[str]
    place: Literal["front", "inside"] = "front"

    def matches(self, text: str) -> Iterator[re.Match[str]]:
        """Where the pattern matches. To look for a literal costs a small part of what the pattern costs."""
        if self.place == "inside":
            if any(literal in text for literal in self.literals):
                yield from self.pattern.finditer(text)
            return
        for literal in self.literals:
            at = text.find(literal)
            while at >= 0:
                if match := self.pattern.match(text, at):
                    yield match
                at = text.find(literal, at + len(literal))


def _token(kind: str, literals: str, pattern: str) -> Token:
    return Token(kind, tuple(literals.split()), re.compile(pattern))


def _token_around(kind: str, literals: str, pattern: str) -> Token:
    return Token(kind, tuple(literals.split()), re.compile(pattern), "inside")


# The border in front keeps a match out of the middle of base64, hashes and longer names.
_B = r"(?<![A-Za-z0-9_])"
TOKENS = (
    _token("AWS key", "AKIA ASIA ABIA ACCA", _B + r"(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}(?![A-Za-z0-9])"),
    _token("Google key", "AIza", _B + r"AIza[\w-]{35}(?![\w-])"),
    _token("Google token", "ya29.", _B + r"ya29\.[\w-]{20,2048}"),
    _token("Google secret", "GOCSPX-", _B + r"GOCSPX-[\w-]{24,40}"),
    _token_around("Azure secret", "Q~", r"(?<![\w~.-])[\w~.-]{3}\dQ~[\w~.-]{31,34}(?![\w~-])"),
    _token_around("Azure key", "Key=", r"(?:Account|SharedAccess)Key=([A-Za-z0-9+/]{40,100}={0,2})"),
    _token_around("Azure signature", "sig=", r"[?&;]sig=([A-Za-z0-9%+/]{40,100}={0,2})"),
    _token("GitHub token", "ghp_ gho_ ghu_ ghs_ ghr_", _B + r"gh[pousr]_[A-Za-z0-9]{30,255}"),
    _token("GitHub token", "github_pat_", _B + r"github_pat_\w{22,255}"),
    _token("GitLab token", "gl", _B + r"gl(?:pat|dt|rt|ptt|ft|soat|imt|agent|cbt|oas)-[\w.-]{20,255}"),
    _token("Slack token", "xox xapp-", _B + r"(?:xox[abceoprs]|xapp)-[A-Za-z0-9-]{10,255}"),
    _token_around(
        "Slack webhook", "hooks.slack.com", r"hooks\.slack\.com/(?:services|workflows|triggers)/([\w/+-]{20,255})"
    ),
    _token_around("Discord webhook", "/api/webhooks/", r"discord(?:app)?\.com/api/webhooks/(\d{15,21}/[\w-]{40,100})"),
    _token_around("Discord token", ".", _B + r"[MNO][\w-]{23,27}\.[\w-]{6}\.[\w-]{27,40}(?![\w-])"),
    _token_around("Telegram token", ":AA", _B + r"\d{8,10}:AA[\w-]{33}(?![\w-])"),
    _token("Stripe key", "sk_live_ rk_live_ sk_test_ rk_test_", _B + r"[sr]k_(?:live|test)_[A-Za-z0-9]{16,255}"),
    _token("webhook secret", "whsec_", _B + r"whsec_[A-Za-z0-9+/=]{24,255}"),
    _token("API key", "sk-", _B + r"sk-(?:ant|or|proj|svcacct|admin|lf|None)-[\w-]{16,255}"),
    _token("API key", "sk-", _B + r"sk-[A-Za-z0-9]{32,128}(?![\w-])"),
    _token(
        "API key",
        "gsk_ csk- pplx- xai- nvapi- tvly- r8_",
        _B + r"(?:gsk_|csk-|pplx-|xai-|nvapi-|tvly-(?:dev-)?|r8_)[\w-]{30,255}",
    ),
    _token("Hugging Face token", "hf_ api_org_", _B + r"(?:hf|api_org)_[A-Za-z0-9]{30,64}(?![A-Za-z0-9])"),
    _token("LangSmith key", "lsv2_", _B + r"lsv2_[a-z]{2}_[0-9a-f]{32}_[0-9a-f]{10}"),
    _token("npm token", "npm_", _B + r"npm_[A-Za-z0-9]{36}(?![A-Za-z0-9])"),
    _token("PyPI token", "pypi-", _B + r"pypi-[\w-]{50,512}"),
    _token("RubyGems key", "rubygems_", _B + r"rubygems_[0-9a-f]{48}"),
    _token("crates.io token", "cio", _B + r"cio[A-Za-z0-9]{32}(?![A-Za-z0-9])"),
    _token("NuGet key", "oy2", _B + r"oy2[a-z0-9]{43}(?![A-Za-z0-9])"),
    _token("Docker token", "dckr_", _B + r"dckr_(?:pat|oat)_[\w-]{27,64}"),
    _token("SendGrid key", "SG.", _B + r"SG\.[\w-]{16,32}\.[\w-]{32,64}"),
    _token("Mailgun key", "key-", _B + r"key-[0-9a-f]{32}(?![0-9a-f])"),
    _token_around("Mailchimp key", "-us", _B + r"[0-9a-f]{32}-us\d{1,2}(?!\d)"),
    _token("Twilio key", "SK", _B + r"SK[0-9a-f]{32}(?![0-9A-Za-z])"),
    _token("DigitalOcean token", "dop_v1_ doo_v1_ dor_v1_", _B + r"do[opr]_v1_[0-9a-f]{64}"),
    _token("Heroku key", "HRKU-", _B + r"HRKU-[\w-]{36,64}"),
    _token("Fly token", "fm1 fm2_ fo1_", _B + r"(?:fm1[ar]|fm2|fo1)_[\w+/=-]{40,1024}"),
    _token("Linear key", "lin_", _B + r"lin_(?:api|oauth)_[A-Za-z0-9]{32,64}"),
    _token("Notion token", "ntn_ secret_", _B + r"(?:ntn|secret)_[A-Za-z0-9]{43,50}(?![A-Za-z0-9])"),
    _token("Figma token", "figd_", _B + r"figd_[\w-]{36,64}"),
    _token("Shopify token", "shp", _B + r"shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}"),
    _token("Square token", "sq0", _B + r"sq0(?:atp|csp|idp)-[\w-]{22,64}"),
    _token("Databricks token", "dapi", _B + r"dapi[0-9a-f]{32}(?:-\d)?(?![0-9a-zA-Z])"),
    _token("New Relic key", "NRAK- NRII-", _B + r"NR(?:AK|II)-[A-Za-z0-9_-]{27,40}"),
    _token("Sentry token", "sntry", _B + r"sntry[su]_[\w+/=-]{40,512}"),
    _token("Grafana token", "glsa_ glc_", _B + r"(?:glsa|glc)_[\w+/=-]{30,512}"),
    _token("Doppler token", "dp.", _B + r"dp\.(?:pt|st|ct|sa|scim|audit)\.(?:[a-z0-9_-]{2,35}\.)?[A-Za-z0-9]{40,44}"),
    _token("Vault token", "hvs. hvb. hvr.", _B + r"hv[sbr]\.[\w-]{24,512}"),
    _token_around("Terraform token", ".atlasv1.", _B + r"[A-Za-z0-9]{14}\.atlasv1\.[\w-]{60,100}"),
    _token("PlanetScale token", "pscale_", _B + r"pscale_(?:tkn|pw|oauth)_[\w.-]{32,64}"),
    _token("Supabase key", "sbp_ sb_secret_", _B + r"(?:sbp_[0-9a-f]{40}|sb_secret_[\w-]{24,64})"),
    _token("Atlassian token", "ATATT3 ATCTT3 ATBB", _B + r"(?:ATATT3|ATCTT3|ATBB)[\w=+/-]{24,512}"),
    _token("Airtable token", "pat", _B + r"pat[A-Za-z0-9]{14}\.[0-9a-f]{64}"),
    _token("Postman key", "PMAK-", _B + r"PMAK-[0-9a-f]{24}-[0-9a-f]{34}"),
    _token("Dynatrace token", "dt0", _B + r"dt0[a-z]\d{2}\.[A-Z0-9]{24}\.[A-Z0-9]{64}"),
    _token("Pulumi token", "pul-", _B + r"pul-[0-9a-f]{40}"),
    _token("1Password token", "ops_ey", _B + r"ops_ey[\w-]{100,2048}"),
    _token("Artifactory key", "AKCp", _B + r"AKCp[A-Za-z0-9]{65,80}"),
    _token("age key", "AGE-SECRET-KEY-", _B + r"AGE-SECRET-KEY-1[A-Z0-9]{58}"),
    _token("JSON web token", "eyJ", _B + r"eyJ[\w-]{8,2048}\.eyJ[\w-]{8,4096}\.[\w-]{10,1024}"),
)
WORTH_A_LOOK = (
    _token_around(
        "password",
        "://",
        r"(?<![A-Za-z0-9+.-])[A-Za-z][A-Za-z0-9+.-]{1,20}://[^\s:/?#@'\"<>]{0,100}:([^\s@/'\"<>]{3,200})@",
    ),
    _token_around("password", "=", r"(?i:;[ \t]{0,3}(?:password|pwd)[ \t]{0,3}=[ \t]{0,3})([^;\"'\s<>]{4,200})"),
    _token_around(
        "password", "machine", r"\bmachine[ \t]+\S{1,200}[ \t]+login[ \t]+\S{1,200}[ \t]+password[ \t]+(\S{4,200})"
    ),
    _token_around(
        "password", "-u --user", r"(?<=\s)(?:-u|--user)[ =]['\"]?[^\s:'\"/]{1,80}:([^\s'\"/]{4,200})(?=['\"\s])"
    ),
)
BEARERS = (
    _token_around("token", "earer EARER", r"(?i:\bbearer)[ \t]{1,4}([\w.~+/=-]{16,2048})"),
    _token_around(
        "token", "asic", r"(?i:\bauthorization['\"]?[ \t]{0,3}[:=][ \t]{0,3}['\"]?basic)[ \t]{1,4}([\w+/=-]{12,512})"
    ),
)
_KEY_BEGINS = re.compile(r"-----BEGIN (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----|PuTTY-User-Key-File-\d: ")
_KEY_ENDS = re.compile(r"-----END (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----|Private-MAC: ?[0-9a-fA-F]*")
_KEY_HEADER = r"(?:Proc-Type|DEK-Info|Version|Comment|Encryption|Public-Lines|Private-Lines)\b.{0,200}"
# What may stand on the lines of a key: quotes, comment signs or a diff's signs around one run of base64. Where the key
# is cut off before its end, only long runs are taken for it.
_KEY_LINE = re.compile(rf"[^A-Za-z0-9]{{0,40}}(?:[A-Za-z0-9+/=]{{4,200}}|{_KEY_HEADER})?[^A-Za-z0-9]{{0,20}}")
_CUT_KEY_LINE = re.compile(r"[^A-Za-z0-9]{0,40}[A-Za-z0-9+/=]{16,200}[^A-Za-z0-9]{0,20}")
_KEY_MARKS = ("PRIVATE KEY", "PuTTY-User-Key-File")
_SOME_KEY = re.compile(r"[A-Za-z0-9+/=]{4}")
KEY_REDACTED = "[redacted: private key]"
MAX_KEY_LINES = 400

# Names whose value is looked at, by their last word; `key` alone names anything, so it needs a word in front.
_NAME_ROOTS = (b"secret", b"token", b"passw", b"passphrase", b"pwd", b"credential", b"key", b"auth")
_PASSWORD_ROOTS = (b"passw", b"passphrase", b"pwd")
_KEY_OWNER = re.compile(
    r"(?:api|access|private|secret|account|auth|signing|encryption|encrypt|master|shared|storage|service|app|admin|deploy"
    r"|webhook|license|subscription|client|consumer|session|jwt|hmac|aes|host|function|publishable|server)[ _.-]?\Z",
    re.IGNORECASE,
)
_OWNER_CHARS = 14
_ASSIGNMENT = re.compile(
    r"(?P<name>[A-Za-z0-9_-]{2,40})"
    r"(?:\\{0,2}[\"'\]]){0,2}[ \t]{0,8}"
    r"(?::[ \t]{0,3}[A-Za-z&'][\w&'|<>.\[\]]{0,40}[ \t]{0,3}(?==))?"  # a type between name and value
    r"(?:=>|:=|[:=>]|(?<=[\"']),|\bvalue[ \t]{0,2}=|[ \t\"']{0,2}\n[ \t]{0,40}[\"']?value[\"']?[ \t]{0,2}:)[ \t]{0,8}"
    r"(?:[rbuf]{0,2}(?P<quote>\\{0,2}[\"'`])(?P<quoted>[^\"'`\\\s]{8,512})(?P=quote)"
    r"|(?P<bare>[^\s\"'`;,(){}\[\]<>\\&|]{12,512})(?=[\s\"'`;,)}\]<>\\&|]|\Z))"
)
_HARMLESS_NAME = re.compile(
    r"(?:url|uri|path|name|field|type|regex|pattern|label|hint|placeholder|error|message|msg|file|dir|folder|header|prefix"
    r"|suffix|len|length|min|max|policy|expir\w*|count|ttl|endpoint|env|var|param|query|column|arn|ref|version|algorithm"
    r"|hash|sha\d*|md5|digest|checksum|izer\w*|iz\w*|ary|format|class|text|title|icon|selector|map|list|index|limit"
    r"|budget|usage|board|word|press|store|point|frame|code|event|up|down)s?\Z",
    re.IGNORECASE,
)


def redact(text: str) -> str:
    """`text` with each secret in it replaced by `[redacted: kind]`; as many lines as before."""
    if any(mark in text for mark in _KEY_MARKS):
        text = "\n".join(_without_key_blocks(text.split("\n")))
    return _redact_values(text)


def redact_lines(lines: Sequence[str], start: int, end: int) -> list[str]:
    """`lines[start:end]` redacted, with key blocks recognised that begin before `start`."""
    needs_whole = any(mark in line for line in lines[:end] for mark in _KEY_MARKS)
    shown = list(_without_key_blocks(lines[:end]))[start:] if needs_whole else lines[start:end]
    return _redact_values("\n".join(shown)).split("\n") if shown else []


def _redact_values(text: str) -> str:
    spans = sorted(_found(text))
    if not spans:
        return text
    parts: list[str] = []
    done = 0
    for start, end, kind in spans:
        if start < done:
            continue
        parts += [text[done:start], f"[redacted: {kind}]"]
        done = end
    return "".join([*parts, text[done:]])


def _found(text: str) -> Iterator[tuple[int, int, str]]:
    """Where the secrets are, and what they are; the spans may overlap."""
    for token in TOKENS:
        for match in token.matches(text):
            if "EXAMPLE" not in match[0] and not _is_monotone(match[0]):
                yield (*_secret_span(match), token.kind)
    for token in WORTH_A_LOOK:
        yield from ((*m.span(1), token.kind) for m in token.matches(text) if not is_placeholder(m[1]))
    for token in BEARERS:
        yield from ((*m.span(1), token.kind) for m in token.matches(text) if is_random(m[1]))
    yield from _assigned(text)


def _secret_span(match: re.Match[str]) -> tuple[int, int]:
    return match.span(1 if match.re.groups else 0)


def _is_monotone(value: str) -> bool:
    """Whether the value's tail is one character over and over, as in documentation."""
    tail = value[-12:]
    return len(set(tail)) <= 2  # noqa: PLR2004  # `xxxx`, `x.x.`


def _assigned(text: str) -> Iterator[tuple[int, int, str]]:
    # One byte a character, so that positions agree; `lower` on the text itself may change its length.
    folded = text.encode("ascii", "replace").lower()
    for root in _NAME_ROOTS:
        kind = "password" if root in _PASSWORD_ROOTS else "secret"
        at = folded.find(root)
        while at >= 0:
            match = _ASSIGNMENT.match(text, at) if _may_name_a_secret(text, at, root) else None
            if match and _names_a_secret(match, root) and _is_secret_value(match, root):
                yield (*match.span("quoted" if match["quoted"] else "bare"), kind)
            at = folded.find(root, at + len(root))


def _may_name_a_secret(text: str, at: int, root: bytes) -> bool:
    return root != b"key" or _KEY_OWNER.search(text[max(0, at - _OWNER_CHARS) : at]) is not None


def _names_a_secret(match: re.Match[str], root: bytes) -> bool:
    rest = match["name"][len(root) :]
    if root == b"auth":
        return not rest
    return not _HARMLESS_NAME.search(rest.removeprefix("ord").removeprefix("d") if root == b"passw" else rest)


def _is_secret_value(match: re.Match[str], root: bytes) -> bool:
    value = match["quoted"] or match["bare"]
    if match["quoted"] and root in _PASSWORD_ROOTS and is_password(value):
        return True
    return is_random(value)


def _without_key_blocks(lines: Sequence[str]) -> Iterator[str]:
    left = 0
    key_line = _KEY_LINE
    for number, line in enumerate(lines):
        begins = _KEY_BEGINS.search(line)
        ends = _KEY_ENDS.search(line, begins.end() if begins else 0)
        if begins:
            yield f"{line[: begins.start()]}{KEY_REDACTED}{line[ends.end() :] if ends else ''}"
            left = 0 if ends else MAX_KEY_LINES
            following = lines[number + 1 : number + 1 + MAX_KEY_LINES] if left else ()
            key_line = _KEY_LINE if any(_KEY_ENDS.search(later) for later in following) else _CUT_KEY_LINE
        elif left and ends:
            yield f"{KEY_REDACTED}{line[ends.end() :]}"
            left = 0
        elif left and key_line.fullmatch(line):
            yield KEY_REDACTED if _SOME_KEY.search(line) else line
            left -= 1
        else:
            yield line
            left = 0
