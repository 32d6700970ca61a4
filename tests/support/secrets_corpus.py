"""Secrets to plant and look-alikes that must survive. Every secret is drawn at run time from pieces, so that none stands here
and no scanner finds one."""

from __future__ import annotations

import base64
import random
import string
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

ALNUM = string.ascii_letters + string.digits
UPPER = string.ascii_uppercase + string.digits
LOWER = string.ascii_lowercase + string.digits
HEX = "0123456789abcdef"
B64 = ALNUM + "+/"
URL64 = ALNUM + "-_"
DASHES = "-" * 5

Make: TypeAlias = Callable[[str, int], str]


class Maker:
    """Random text as issuers draw it."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def __call__(self, alphabet: str, length: int) -> str:
        return "".join(self.random.choice(alphabet) for _ in range(length))


# Values whose issuer gave them a shape of their own: found wherever they stand.
SHAPES: dict[str, Callable[[Make], str]] = {
    "AWS key": lambda r: "AK" + "IA" + r(UPPER, 16),
    "AWS session key": lambda r: "AS" + "IA" + r(UPPER, 16),
    "Google key": lambda r: "AI" + "za" + r(URL64, 35),
    "Google OAuth token": lambda r: "ya" + "29." + r(URL64, 80),
    "Google secret": lambda r: "GOC" + "SPX-" + r(URL64, 28),
    "Azure secret": lambda r: r(ALNUM, 3) + "8Q" + "~" + r(ALNUM, 34),
    "Azure DevOps token": lambda r: r(ALNUM, 76) + "AZ" + "DO" + r(ALNUM, 4),
    "Azure storage signature": lambda r: "?sv=2022-11-02&si" + "g=" + r(ALNUM, 42) + "%2F" + r(ALNUM, 6) + "%3D",
    "GitHub token": lambda r: "gh" + "p_" + r(ALNUM, 36),
    "GitHub OAuth token": lambda r: "gh" + "o_" + r(ALNUM, 36),
    "GitHub app token": lambda r: "gh" + "s_" + r(ALNUM, 36),
    "GitHub refresh token": lambda r: "gh" + "r_" + r(ALNUM, 76),
    "GitHub fine-grained token": lambda r: "github" + "_pat_" + r(ALNUM, 22) + "_" + r(ALNUM, 59),
    "GitLab token": lambda r: "gl" + "pat-" + r(URL64, 20),
    "GitLab runner token": lambda r: "gl" + "rt-" + r(URL64, 20),
    "GitLab old runner token": lambda r: "GR" + "1348941" + r(URL64, 20),
    "Slack bot token": lambda r: "xo" + "xb-" + r(string.digits, 12) + "-" + r(ALNUM, 24),
    "Slack user token": lambda r: "xo" + "xp-" + r(string.digits, 12) + "-" + r(string.digits, 12) + "-" + r(HEX, 32),
    "Slack app token": lambda r: "xa" + "pp-1-" + r(UPPER, 11) + "-" + r(string.digits, 13) + "-" + r(HEX, 64),
    "Discord token": lambda r: "M" + r(URL64, 23) + "." + r(URL64, 6) + "." + r(URL64, 27),
    "Telegram token": lambda r: r("123456789", 9) + ":A" + "A" + r(URL64, 33),
    "Stripe key": lambda r: "sk" + "_live_" + r(ALNUM, 24),
    "Stripe test key": lambda r: "rk" + "_test_" + r(ALNUM, 24),
    "webhook secret": lambda r: "wh" + "sec_" + r(ALNUM, 32),
    "Anthropic key": lambda r: "sk" + "-ant-api03-" + r(URL64, 93) + "AA",
    "Anthropic OAuth token": lambda r: "sk" + "-ant-oat01-" + r(URL64, 93) + "AA",
    "OpenAI key": lambda r: "sk" + "-proj-" + r(URL64, 100),
    "OpenAI service key": lambda r: "sk" + "-svcacct-" + r(URL64, 74),
    "OpenAI old key": lambda r: "sk" + "-" + r(ALNUM, 48),
    "DeepSeek key": lambda r: "sk" + "-" + r(HEX, 32),
    "OpenRouter key": lambda r: "sk" + "-or-v1-" + r(HEX, 64),
    "Groq key": lambda r: "gs" + "k_" + r(ALNUM, 52),
    "xAI key": lambda r: "xa" + "i-" + r(ALNUM, 80),
    "Perplexity key": lambda r: "pp" + "lx-" + r(ALNUM, 48),
    "NVIDIA key": lambda r: "nv" + "api-" + r(URL64, 64),
    "Replicate token": lambda r: "r" + "8_" + r(ALNUM, 37),
    "Hugging Face token": lambda r: "h" + "f_" + r(string.ascii_letters, 34),
    "LangSmith key": lambda r: "ls" + "v2_pt_" + r(HEX, 32) + "_" + r(HEX, 10),
    "npm token": lambda r: "np" + "m_" + r(ALNUM, 36),
    "PyPI token": lambda r: "py" + "pi-" + r(URL64, 150),
    "RubyGems key": lambda r: "ruby" + "gems_" + r(HEX, 48),
    "crates.io token": lambda r: "ci" + "o" + r(ALNUM, 32),
    "NuGet key": lambda r: "oy" + "2" + r(LOWER, 43),
    "Docker token": lambda r: "dck" + "r_pat_" + r(URL64, 27),
    "SendGrid key": lambda r: "S" + "G." + r(URL64, 22) + "." + r(URL64, 43),
    "Mailgun key": lambda r: "ke" + "y-" + r(HEX, 32),
    "Mailchimp key": lambda r: r(HEX, 32) + "-u" + "s14",
    "Brevo key": lambda r: "xkey" + "sib-" + r(HEX, 64) + "-" + r(ALNUM, 16),
    "Resend key": lambda r: "r" + "e_" + r(ALNUM, 8) + "_" + r(ALNUM, 24),
    "Twilio key": lambda r: "S" + "K" + r(HEX, 32),
    "DigitalOcean token": lambda r: "do" + "p_v1_" + r(HEX, 64),
    "Heroku key": lambda r: "HR" + "KU-" + r(URL64, 60),
    "Fly token": lambda r: "fm" + "2_" + r(B64, 120),
    "Linear key": lambda r: "lin" + "_api_" + r(ALNUM, 40),
    "Notion token": lambda r: "nt" + "n_" + r(ALNUM, 46),
    "Figma token": lambda r: "fi" + "gd_" + r(URL64, 40),
    "Shopify token": lambda r: "shp" + "at_" + r(HEX, 32),
    "Square token": lambda r: "sq" + "0atp-" + r(URL64, 22),
    "Databricks token": lambda r: "da" + "pi" + r(HEX, 32),
    "New Relic key": lambda r: "NR" + "AK-" + r(UPPER, 27),
    "Sentry token": lambda r: "sn" + "trys_" + "eyJ" + r(URL64, 80),
    "Grafana token": lambda r: "gl" + "sa_" + r(ALNUM, 32) + "_" + r(HEX, 8),
    "Doppler token": lambda r: "dp" + ".pt." + r(ALNUM, 43),
    "Vault token": lambda r: "hv" + "s." + r(URL64, 90),
    "Terraform token": lambda r: r(ALNUM, 14) + ".atla" + "sv1." + r(URL64, 67),
    "PlanetScale token": lambda r: "psc" + "ale_tkn_" + r(URL64, 43),
    "Supabase key": lambda r: "sb" + "p_" + r(HEX, 40),
    "Atlassian token": lambda r: "ATA" + "TT3x" + r(URL64, 180),
    "Airtable token": lambda r: "pa" + "t" + r(ALNUM, 14) + "." + r(HEX, 64),
    "Postman key": lambda r: "PM" + "AK-" + r(HEX, 24) + "-" + r(HEX, 34),
    "Dynatrace token": lambda r: "dt" + "0c01." + r(UPPER, 24) + "." + r(UPPER, 64),
    "Pulumi token": lambda r: "pu" + "l-" + r(HEX, 40),
    "1Password token": lambda r: "op" + "s_eyJ" + r(URL64, 250),
    "Artifactory key": lambda r: "AK" + "Cp" + r(ALNUM, 69),
    "Confluent secret": lambda r: "cfl" + "t" + r(B64, 60),
    "Buildkite token": lambda r: "bk" + "ua_" + r(HEX, 40),
    "CircleCI token": lambda r: "CCI" + "PAT_" + r(ALNUM, 22) + "_" + r(HEX, 40),
    "Sourcegraph token": lambda r: "sg" + "p_" + r(HEX, 16) + "_" + r(HEX, 40),
    "Tailscale key": lambda r: "tsk" + "ey-auth-" + r(ALNUM, 17) + "-" + r(ALNUM, 32),
    "Vercel token": lambda r: "vc" + "p_" + r(ALNUM, 56),
    "Netlify token": lambda r: "nf" + "p_" + r(ALNUM, 36),
    "Cloudflare origin key": lambda r: "v1" + ".0-" + r(HEX, 24) + "-" + r(HEX, 146),
    "Razorpay key": lambda r: "rz" + "p_live_" + r(ALNUM, 14),
    "Flutterwave key": lambda r: "FL" + "WSECK-" + r(HEX, 32) + "-X",
    "Plaid token": lambda r: "acc" + "ess-production-" + r(HEX, 8) + "-" + "-".join(r(HEX, n) for n in (4, 4, 4, 12)),
    "EasyPost key": lambda r: "EZ" + "AK" + r(ALNUM, 54),
    "Facebook token": lambda r: "EA" + "AB" + "wz" + "Lix" + "nj" + "YBA" + r(ALNUM, 150),
    "age key": lambda r: "AGE-SEC" + "RET-KEY-1" + r(UPPER, 58),
    "JSON web token": lambda r: "ey" + "J" + r(URL64, 33) + ".ey" + "J" + r(URL64, 60) + "." + r(URL64, 43),
    "encrypted JSON web token": lambda r: "ey" + "J" + r(URL64, 40) + "." + r(URL64, 60) + "." + r(URL64, 16) + "."
    + r(URL64, 90) + "." + r(URL64, 22),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Planted:
    """A text with a secret in it: no line of `secrets` may be left of it."""

    kind: str
    text: str
    secrets: tuple[str, ...]


# Values that are secrets by what stands around them; `{}` is the value.
AROUND: dict[str, str] = {
    "assignment in Python": 'api_key = "{}"',
    "assignment in TypeScript": "let apiToken: string = '{}';",
    "assignment in a shell": "export SERVICE_SECRET={}",
    "assignment in an env file": "SECRET_KEY_BASE={}",
    "assignment in YAML": "client_secret: {}",
    "assignment in JSON": '"access_token": "{}",',
    "assignment in TOML": "auth_token = '{}'",
    "assignment in an INI file": "aws_secret_access_key = {}",
    "assignment in XML": "<apiKey>{}</apiKey>",
    "assignment in Terraform": 'secret_key      = "{}"',
    "assignment in a Dockerfile": "ENV API_SECRET {}",
    "assignment in PHP": "define('AUTH_KEY', '{}');",
    "assignment in Go": 'clientSecret := "{}"',
    "Kubernetes secret": "env:\n  - name: AUTH_TOKEN\n    value: {}",
    "password in Python": 'password = "{}"',
    "password in YAML": "db_password: '{}'",
    "password in an env file": "POSTGRES_PASSWORD={}",
    "password on a command line": "mysql --user=app --password={} shop",
    "default of a variable": 'os.getenv("API_KEY", "{}")',
    "fallback in JavaScript": "const key = process.env.API_KEY || '{}';",
    "argument of a call": 'client.setApiKey("{}")',
    "comparison": "if token == '{}':",
    "C header": '#define API_KEY "{}"',
    "Gradle": "storePassword '{}'",
    "Ansible": "ansible_become_pass: {}",
    "RabbitMQ": "RABBITMQ_DEFAULT_PASS={}",
    "list in YAML": "secrets: [{}]",
    "Markdown": "**Password:** {}",
    "table": "| token | `{}` |",
    "sshpass": "sshpass -p '{}' ssh host",
    "mysql option": "mysql -uroot -p{} shop",
    "redis-cli option": "redis-cli -h cache -a {}",
    "docker login option": "docker login -u bob -p {} registry",
    "first cookie": "Cookie: sessionid={}; theme=dark",
    "psql environment": "PGPASSWORD={} psql -h db",
    "curl user": "curl -u admin:{} https://example.org/api",
    "postgres URL": "postgres://admin:{}@db.internal:5432/app",
    "mongodb URL": "mongodb+srv://app:{}@cluster0.example.net/?retryWrites=true",
    "redis URL": "redis://:{}@cache:6379/0",
    "git remote": "https://oauth2:{}@git.example.org/team/repo.git",
    "git remote with a token alone": "https://{}@git.example.org/team/repo.git",
    "amqp URL": "AMQP_URL=amqps://svc:{}@mq.internal/vhost",
    "ADO connection string": "Server=db;Database=app;User Id=sa;Password={};Encrypt=true",
    "JDBC URL": "jdbc:mysql://db/app?user=root&password={}&useSSL=false",
    "ODBC string": "Driver=x;UID=sa;PWD={};",
    "Bearer header": "Authorization: Bearer {}",
    "Basic header": "authorization: 'Basic {}'",
    "token header": "Authorization: token {}",
    "API key header": "X-API-Key: {}",
    "API key in a query": "GET https://api.example.org/v1/items?api_key={}&page=2",
    "access token in a query": "wss://stream.example.org/?access_token={}",
    "cookie": "Set-Cookie: session_token={}; Path=/; HttpOnly",
    "netrc": "machine api.example.org login me password {}",
    "npm registry": "//registry.example.org/:_authToken={}",
    "npm basic auth": "_auth={}",
    "docker login": '{{"auths": {{"https://index.docker.io/v1/": {{"auth": "{}"}}}}}}',
    "kubeconfig": "users:\n- name: admin\n  user:\n    token: {}",
    "htpasswd comment": "# password is {}",
    "GitHub Actions": 'run: deploy --token "{}"',
    "JSON in a string": 'f(json="{{\\"api_key\\": \\"{}\\"}}")',
    "Fernet": "FERNET_KEY = '{}'",
    "Rails": "secret_key_base: {}",
    "Azure key": "DefaultEndpointsProtocol=https;AccountName=x;AccountKey={}{}{}==",
    "Slack webhook": "https://hooks.slack.com/services/T0A1B2C3D/B0A1B2C3D/{}",
    "Discord webhook": "https://discord.com/api/webhooks/112233445566778899/{}{}{}",
    "Teams webhook": "https://acme.webhook.office.com/webhookb2/{}",
}


def tokens(seed: int) -> Iterator[Planted]:
    """Each shape once, in a line of code."""
    make = Maker(seed)
    for kind, shape in SHAPES.items():
        secret = shape(make)
        yield Planted(kind, f'    client.use("{secret}")', (secret, secret[len(secret) // 2 :]))


def values(seed: int) -> Iterator[Planted]:
    """Each surrounding once, with a random value."""
    make = Maker(seed)
    for kind, around in AROUND.items():
        secret = "t0" + make(ALNUM, 30)
        yield Planted(kind, around.format(secret, secret, secret), (secret,))


def key_block(kind: str, lines: int = 12, seed: int = 7) -> list[str]:
    make = Maker(seed)
    body = [make(B64, 64) for _ in range(lines)]
    return [f"{DASHES}BEGIN {kind}PRIVATE KEY{DASHES}", *body, f"{DASHES}END {kind}PRIVATE KEY{DASHES}"]


def blocks(seed: int) -> Iterator[Planted]:
    """Private keys on many lines and on one, and what holds one."""
    make = Maker(seed)
    for kind in ("", "RSA ", "EC ", "OPENSSH ", "ENCRYPTED "):
        lines = key_block(kind, 6, seed)
        yield Planted(f"{kind}private key", "\n".join(lines), tuple(lines[1:-1]))
    lines = key_block("", 8, seed + 1)
    account = '{"type": "service_account", "private_key_id": "' + make(HEX, 40) + '", "private_key": "'
    yield Planted("Google service account", account + "\\n".join(lines) + '\\n"}', tuple(lines[1:-1]))
    lines = key_block("PGP ", 6, seed + 2)
    block = "\n".join(lines).replace("PRIVATE KEY", "PRIVATE KEY BLOCK")
    yield Planted("PGP private key", block, tuple(lines[1:-1]))
    wrapped = base64.b64encode("\n".join(key_block("RSA ", 8, seed + 3)).encode()).decode()
    yield Planted("private key in base64", f"    client-key-data: {wrapped}", (wrapped, wrapped[64:128]))


def planted(seed: int) -> list[Planted]:
    return [*tokens(seed), *values(seed), *blocks(seed)]


# Repeated, they would be slow to look through for a pattern that looks back, or far ahead at each place.
HOSTILE = (
    *(
        "api_key=",
        'api_key="',
        "api_key: ",
        "secret=a1",
        "password is ",
        "--token ",
        "://b:",
        "://a@b:c@",
        "-u a:b ",
        "?sig=aZ1",
    ),
    *(
        "eyJ",
        "eyJa1b2c3d4.",
        "sk-proj-",
        "pypi-",
        "hvs.",
        "dp.pt.",
        "re_",
        "v1.0-",
        "EAAB",
        "aAZDO",
        "aaa8Q~",
        "AKIA",
        "AKIA" + "A" * 16 + " ",
    ),
    *(
        "LS0tLS1CRUdJTiBSU0EgUFJJVkFUR",
        '"kty""d":"a',
        "authorization: basic ",
        "machine a login b ",
        "PWD=a",
        "token\n value: ",
    ),
    *(
        f"{'-' * 5}BEGIN PRIVATE KEY{'-' * 5}",
        f"{'-' * 5}BEGIN PRIVATE KEY{'-' * 5}\n",
        f"a1b2c3d4e5f6g7h8\n{'-' * 5}END PRIVATE KEY{'-' * 5}\n",
    ),
)

LOOKALIKES = """
AKIAIOSFODNN7EXAMPLE
aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY
password
the password is checked by check_password(user, password)
password = "password"
password: string;
password: str
password: str = Field(min_length=12, max_length=128)
password = input("Password: ")
password = getpass.getpass()
password = os.environ["DATABASE_PASSWORD_2"]
self.password = hash_password(password, rounds=12)
password = models.CharField(max_length=128)
def login(username: str, password: str) -> Token:
PASSWORD_MIN_LENGTH = 12
password_hash = "$2b$12$abcdefghijklmnopqrstuv"
const PASSWORD_REGEX = "^(?=.*[a-z])(?=.*[0-9]).{8,}$";
passwordResetUrl: "/v1/auth/reset-password2"
<label for="password1">Password</label>
<input type="password" name="new_password2" autocomplete="new-password">
"password": "Passwort",
"password.too_short": "Must have at least 8 characters",
api_key = os.environ["API_KEY"]
api_key = os.getenv("SERVICE_API_KEY_V2")
apiKey: process.env.API_KEY_2024_PROD
api_key = settings.providers.openai2.api_key
api_key: ${API_KEY_V2_PRODUCTION}
api_key: {{ .Values.global.apiKey2 | quote }}
api_key: !vault |
api_key = "your-api-key-here-12345"
api_key = "<YOUR_API_KEY_1234567890>"
api_key = "xxxxxxxxxxxxxxxxxxxxxxxx"
api_key = "************************"
api_key = "sk-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
api_key = "..."
export GITHUB_TOKEN=$(gh auth token)
export GITHUB_TOKEN="${GITHUB_TOKEN:-}"
token: ${{ secrets.GITHUB_TOKEN }}
token = get_token_v2(request, 1234567890)
token = "test-token-1234567890"
token = jwt.encode(payload, key, algorithm="HS256")
token_type = "urn:ietf:params:oauth:token-type:jwt2"
max_tokens = 4096
max_tokens_to_sample: 100000
tokenizer = "cl100k_base_2023_05_01"
tokens_per_minute = 1234567890123
next_page_token: str | None = None
csrf_token_field = "csrfmiddlewaretoken"
<meta name="csrf-token" content="{{ csrf_token }}">
secret_name = "prod/database/credentials2"
secretKeyRef:
secretName: my-app-tls-2024
arn:aws:secretsmanager:eu-west-1:123456789012:secret:prod/db-AbCdEf
the secret-santa fixture draws 12 names
secret = Secret.from_name("stripe-live-2024")
commit 3f786850e387550fdab836ed7e6dc881de23001b
sha256: 2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824
md5 = "d41d8cd98f00b204e9800998ecf8427e"
image: nginx@sha256:4c1c50d0ffc614f90b93b07d778028dc765548e823f676fb027f61d281ac380d
"integrity": "sha512-Yx3dEFyTzZ0C5oFyJ3yF3oA1mVtL2c8l0mN7yqK9mXoHqf5q3hJm2c1lPz8mK3c8d7r4Jp0a9B6uQk1x2w3v4A=="
checksum = "9fbc0f8e9c0e2d0b8a9d3e6f3c6a7d3f8c1b2a3d4e5f60718293a4b5c6d7e8f9"
resolved "https://registry.yarnpkg.com/lodash/-/lodash-4.17.21.tgz#679591c564c3bffaae8454cf0b3df370c3d6911c"
h1:5oN1P5iV1x1m3C7vYzX2yq1w8nQ0R9b7G6k4d2s1a0Q=
--hash=sha256:0a1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c6d7e8f9
index 3f78685..e387550 100644
id = "550e8400-e29b-41d4-a716-446655440000"
client_secret = "550e8400-e29b-41d4-a716-446655440000"
ulid = "01ARZ3NDEKTSV4RRFFQ69G5FAV"
https://example.org/s/V1StGXR8_Z5jdHi6B-myT
https://www.youtube.com/watch?v=dQw4w9WgXcQ
etag: "33a64df551425fcc55e4d42a148795d9f25f89d4"
x-request-id: 7f3093c601278bc0
traceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01
postgres://user:password@localhost:5432/db
postgres://postgres:postgres@db/app
postgres://${USER}:${PASSWORD}@localhost/db
f"postgresql://{user}:{password}@{host}:{port}/{name}"
password = "test1234"
DB_PASSWORD: my-secret
http://localhost:8080/path@2x.png
https://example.org/@scope/package
git@github.com:team/repo.git
Authorization: Bearer <token>
Authorization: Bearer ${TOKEN}
headers["Authorization"] = f"Bearer {token}"
curl -u user:pass https://example.org
ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl user@host
ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABAQC7vbqajDhA+17vXwQDRP4c+5bIY6SxZ8QU user@host
data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==
primary_key = "user_id_2024_11_30_v2"
foreign_key="accounts.organisation_id2"
keyboard_shortcut: "ctrl+shift+alt+k2"
key = f"{namespace}:{user_id}:v2"
const queryKey = ["todos", "list", { page: 12 }];
cache_key = "dashboard:v12:user-profile"
secret santa 2024 is on 2024-12-24
.btn-primary-outline-xl2--active-hover:focus { color: #a1b2c3; }
className="max-w-7xl mx-auto px-4 sm:px-6 lg:px-8"
version = "1.24.3-beta.12+build.20240812"
+49 30 901820-1234, +1 (555) 010-9999
sk-ip this
task-force-risk-assessment-2024
disk-usage-monitoring-service-for-kubernetes-clusters
xoxb
ghp_
npm_config_registry=https://registry.npmjs.org
hf_hub_download(repo_id="bert-base-uncased")
AIzaSy is how Google's keys begin
-----BEGIN PUBLIC KEY-----
-----BEGIN CERTIFICATE-----
std::unordered_map<std::string, int> token_to_id2;
pat = re.compile(r"[A-Za-z0-9_-]{20,}")
alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
const EXPECTED_TOKEN_KINDS_2 = [TokenKind.Identifier, TokenKind.Number];
#define AUTH_KEY_LENGTH_MAX_V2 0x00000040
author = "Jane Doe <jane@example.org>"
session_token_expires_at = 1732973753
publicKeyToken=b77a5c561934e089
private_key: Ed25519PrivateKey | Ed448PrivateKey
def load(private_key: ed25519.Ed25519PrivateKey) -> None:
key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
class CrtS3SigV4Auth(CrtSigV4Auth):
run("while True: pass", timeout=0.0001)
("http", "user/name", "password", "localhost:22")
Set-Cookie: PART_NUMBER=RIDING_ROCKET_0023; path=/ammo
token_variants = ["+i6t-not-inline", "+i6t-use-option"]
bypass: compass2north
passed: 1234 of 1240 tests in 12.5s
if token == TokenKind.Identifier2:
| `api_key` | `LIVE_MEMORY_API_KEY_2` | the key |
the password or the token is wrong
Version=4.0.0.0, Culture=neutral, PublicKeyToken=31bf3856ad364e35
0x71C7656EC7ab88b098defB751B7401B5f6d8976F
ami-0abcdef1234567890
arn:aws:iam::123456789012:role/deploy-role
pk_test_key_of_docs
""".strip().split("\n")
