"""Which files are never read because of what they are called. Pure: it looks at names only.

Lower-case globs over file names, one table each for what is secret and for what only looks so.
"""

from __future__ import annotations

import re
from fnmatch import translate

SECRET_NAMES = (
    # environment files
    ".env",
    ".env.*",
    ".env-*",
    ".envrc",
    "*.env",
    # keys and key stores
    "*.pem",
    "*.key",
    "*.p8",
    "*.p12",
    "*.pfx",
    "*.jks",
    "*.keystore",
    "*.ppk",
    "*.kdbx",
    "*.ovpn",
    "*.gpg",
    "*.agekey",
    "id_rsa*",
    "id_dsa*",
    "id_ecdsa*",
    "id_ed25519*",
    "ssh_host_*_key",
    # what tools log in with
    ".npmrc",
    ".pypirc",
    ".netrc",
    "_netrc",
    ".pgpass",
    ".my.cnf",
    ".htpasswd",
    ".git-credentials",
    ".dockercfg",
    ".dockerconfigjson",
    ".vault-token",
    ".terraformrc",
    "kubeconfig",
    "credentials",
    "credentials.*",
    "credentials-*",
    "credentials_*",
    "*.credentials",
    "*credentials.json",
    "*credentials.yml",
    "*credentials.yaml",
    "*credentials.yml.enc",
    "service-account*.json",
    "service_account*.json",
    "client_secret*.json",
    "token.json",
    "rootkey.csv",
    "*accesskeys.csv",
    # what holds a project's secrets
    "secrets",
    "secrets.*",
    "*.tfstate",
    "*.tfstate.*",
    "*.tfvars",
    "*.tfvars.json",
)
SECRET_PATHS = (".docker/config.json", ".kube/config", ".aws/config")  # by the folder they lie in
SECRET_FOLDERS = (".ssh", ".gnupg")
EXAMPLES = (
    "*.example",
    "*.sample",
    "*.template",
    "*.dist",
    "*.tmpl",
    "*.example.*",
    "*.sample.*",
    "*.template.*",
    "*.pub",
)
# A program or a page called `credentials` is about credentials; it holds none, or the redaction of values finds it.
_SOURCE_SUFFIX = re.compile(
    r".+\.(?:c|cc|cpp|cs|dart|ex|exs|go|h|hpp|java|js|jsx|kt|lua|md|mdx|mjs|php|proto|py|pyi|rb|rs|rst"
    r"|scala|sh|sql|svelte|swift|tf|ts|tsx|vue)"
)
_KEY_WITHOUT_SUFFIX = re.compile(r"id_[^.]+\Z")


def _any_of(globs: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile("|".join(translate(glob) for glob in globs))


_SECRET = _any_of(SECRET_NAMES)
_EXAMPLE = _any_of(EXAMPLES)


def is_secret_file(path: str) -> bool:
    """Whether the file at `path` (with `/` or `\\`) may hold secrets, by its name or the folder it lies in."""
    folded = path.replace("\\", "/").lower()
    *folders, name = folded.split("/")
    name = name.split(":", 1)[0].rstrip(". ")  # Windows opens `.env.`, `.env ` and `.env::$DATA` as `.env`
    if _EXAMPLE.match(name):
        return False
    if any(folder in SECRET_FOLDERS for folder in folders):
        return True
    if _SOURCE_SUFFIX.fullmatch(name):
        return False
    if _SECRET.match(name) or _KEY_WITHOUT_SUFFIX.match(name):
        return True
    return "/".join([*folders[-1:], name]) in SECRET_PATHS
