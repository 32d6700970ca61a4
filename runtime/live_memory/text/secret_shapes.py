"""The shapes of secrets: values that their issuers gave a form of their own, and those that an address or a header gives away.
Pure.

Each shape has a literal that is looked for first and only bounded repetitions, so time grows with the length of the text alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal


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
                match = self.pattern.match(text, at)
                if match:
                    yield match
                at = text.find(literal, match.end() if match else at + len(literal))


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
    _token_around("Azure token", "AZDO", r"(?<![A-Za-z0-9])[A-Za-z0-9]{76}AZDO[A-Za-z0-9]{4}(?![A-Za-z0-9])"),
    _token_around("Azure key", "JQQJ9", r"(?<![A-Za-z0-9])[A-Za-z0-9]{40,60}JQQJ9[A-Za-z0-9]{10,40}(?![A-Za-z0-9])"),
    _token_around("Azure key", "Key=", r"(?:Account|SharedAccess)Key=([A-Za-z0-9+/]{40,100}={0,2})"),
    _token_around("Azure signature", "sig=", r"[?&;]sig=([A-Za-z0-9%+/]{40,100}={0,2})"),
    _token("GitHub token", "ghp_ gho_ ghu_ ghs_ ghr_", _B + r"gh[pousr]_[A-Za-z0-9]{30,255}"),
    _token("GitHub token", "github_pat_", _B + r"github_pat_\w{22,255}"),
    _token("GitLab token", "gl", _B + r"gl(?:pat|dt|rt|ptt|ft|soat|imt|agent|cbt|oas)-[\w.-]{20,255}"),
    _token("GitLab token", "GR1348941", _B + r"GR1348941[\w-]{20,64}"),
    _token("Slack token", "xox xapp-", _B + r"(?:xox[abceoprs]|xapp)-[A-Za-z0-9-]{10,255}"),
    _token_around(
        "Slack webhook", "hooks.slack.com", r"hooks\.slack\.com/(?:services|workflows|triggers)/([\w/+-]{20,255})"
    ),
    _token_around("Teams webhook", "webhook.office.com", r"webhook\.office\.com/webhookb2/([\w@/-]{20,400})"),
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
    _token("Brevo key", "xkeysib- xsmtpsib-", _B + r"x(?:key|smtp)sib-[0-9a-f]{64}-[A-Za-z0-9]{16}"),
    _token("Resend key", "re_", _B + r"re_[A-Za-z0-9]{8}_[A-Za-z0-9]{24}(?![A-Za-z0-9])"),
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
    _token("Confluent secret", "cflt", _B + r"cflt[A-Za-z0-9+/]{60}(?![A-Za-z0-9+/])"),
    _token("Buildkite token", "bkua_ bkct_", _B + r"bk(?:ua|ct)_[0-9a-f]{40}"),
    _token("CircleCI token", "CCIPAT_ CCIPRJ_", _B + r"CCI(?:PAT|PRJ)_[A-Za-z0-9]{20,24}_[0-9a-f]{40}"),
    _token("Sourcegraph token", "sgp_", _B + r"sgp_(?:[0-9a-f]{16}_|local_)?[0-9a-f]{40}"),
    _token("Tailscale key", "tskey-", _B + r"tskey-[a-z]{2,12}-[A-Za-z0-9]{8,24}-[A-Za-z0-9]{16,48}"),
    _token("Vercel token", "vcp_ vci_ vca_ vcr_ vck_", _B + r"vc[piark]_[A-Za-z0-9]{24,64}(?![A-Za-z0-9])"),
    _token("Netlify token", "nfp_ nfc_ nfo_ nfu_ nfb_", _B + r"nf[pcoub]_[A-Za-z0-9]{36}(?![A-Za-z0-9])"),
    _token("Cloudflare key", "v1.0-", _B + r"v1\.0-[0-9a-f]{24}-[0-9a-f]{146}"),
    _token("Razorpay key", "rzp_", _B + r"rzp_(?:live|test)_[A-Za-z0-9]{14}(?![A-Za-z0-9])"),
    _token("Flutterwave key", "FLWSECK", _B + r"FLWSECK(?:_TEST)?-[0-9a-zA-Z]{12,40}-X"),
    _token(
        "Plaid token",
        "access-",
        _B + r"access-(?:production|development|sandbox)-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}",
    ),
    _token("EasyPost key", "EZAK EZTK", _B + r"EZ[AT]K[A-Za-z0-9]{54}(?![A-Za-z0-9])"),
    _token("Facebook token", "EAA", r"(?<![A-Za-z0-9_+/-])EAA(?!AAA)[A-Za-z0-9]{90,400}(?![A-Za-z0-9+/=])"),
    _token(
        "private key",
        "LS0tLS1CRUdJTi",
        r"(?<![A-Za-z0-9+/])LS0tLS1CRUdJTi(?:BSU0EgUFJJVkFUR|BQUklWQVRF|BFQyBQUklWQVRF|BPUEVOU1NI"
        r"|BFTkNSWVBURUQg|BEU0EgUFJJVkFUR)[A-Za-z0-9+/=]{40,65536}",
    ),
    _token("Django key", "django-insecure-", _B + r"django-insecure-[^\s\"'\\]{30,100}"),
    _token("age key", "AGE-SECRET-KEY-", _B + r"AGE-SECRET-KEY-1[A-Z0-9]{58}"),
    _token(
        "JSON web token",
        "eyJ",
        _B + r"eyJ[\w-]{8,2048}\.[\w-]{0,1024}\.[\w-]{8,64}\.[\w-]{8,8192}\.[\w-]{10,64}(?![\w-])",
    ),
    _token("JSON web token", "eyJ", _B + r"eyJ[\w-]{8,2048}\.eyJ[\w-]{8,4096}\.[\w-]{10,1024}"),
)
WORTH_A_LOOK = (
    _token_around(
        "password",
        "://",
        r"(?<![A-Za-z0-9])[A-Za-z][A-Za-z0-9+.-]{1,20}://[^\s:/?#@'\"<>]{0,100}:([^\s@/'\"<>]{3,200})@",
    ),
    _token_around("password", "=", r"(?i:;[ \t]{0,3}(?:password|pwd)[ \t]{0,3}=[ \t]{0,3})([^;\"'\s<>]{4,200})"),
    _token_around("private key", '"kty"', r'"(?:d|p|q|dp|dq|qi|k)"[ \t]{0,3}:[ \t]{0,3}"([\w-]{20,1024})"'),
    _token_around(
        "AWS secret",
        "AKIA ASIA",
        _B + r"A[KS]IA[A-Z0-9]{16}(?![A-Za-z0-9])[^\n]{1,60}?(?<![A-Za-z0-9/+])([A-Za-z0-9/+]{40})(?![A-Za-z0-9/+=])",
    ),
    _token_around(
        "password", "machine", r"\bmachine[ \t]+\S{1,200}[ \t]+login[ \t]+\S{1,200}[ \t]+password[ \t]+([^\s{}]{4,200})"
    ),
    _token_around(
        "password",
        "sshpass mysql redis-cli docker login",
        r"\b(?:sshpass[ \t]{1,4}-p|mysql(?:dump|admin)?\b[^\n|;]{0,120}?[ \t]-p|redis-cli\b[^\n|;]{0,120}?[ \t]-a"
        r"|docker login\b[^\n|;]{0,120}?[ \t]-p)[ \t]{0,4}['\"]?([^\s'\"-][^\s'\"]{5,200})",
    ),
    _token_around(
        "password", "-u --user", r"(?<=\s)(?:-u|--user)[ =]['\"]?[^\s:'\"/]{1,80}:([^\s'\"/]{4,200})(?=['\"\s])"
    ),
)
BEARERS = (
    _token_around("token", "earer EARER", r"(?i:\bbearer)[ \t]{1,4}([\w.~+/=-]{16,2048})"),
    _token_around(
        "token",
        "uthoriz UTHORIZ",
        r"(?i:\bauthorization['\"]?[ \t]{0,3}[:=][ \t]{0,3}['\"]?(?:[a-z][a-z-]{1,20}[ \t]{1,4})?)([\w.~+/=-]{12,512})(?![\w.~+/=-])",
    ),
    _token_around(
        "cookie",
        "ookie OOKIE",
        r"(?i:\b(?:set-)?cookie['\"]?[ \t]{0,3}:[ \t]{0,3}['\"]?)[\w.-]{1,60}=([\w.~%+/-]{16,1024})",
    ),
    _token_around("token", "://", r"(?<=://)([\w.~%-]{16,255})@"),
)
