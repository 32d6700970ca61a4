"""Which names are secret, and which only look so."""

from __future__ import annotations

import pytest

from live_memory.explore.secret_files import is_secret_file


@pytest.mark.parametrize(
    "path",
    [
        ".env",
        ".env.local",
        ".env.production",
        "web/.env",
        ".ENV",
        ".Env.Local",
        ".env-staging",
        ".envrc",
        "prod.env",
        "server.pem",
        "tls/server.key",
        "store.p12",
        "store.pfx",
        "app.jks",
        "release.keystore",
        "id_rsa",
        "id_ed25519",
        "keys/id_ecdsa",
        "id_dsa.bak",
        "id_deploy",
        ".ssh/config",
        ".ssh/known_hosts",
        ".gnupg/secring",
        ".npmrc",
        ".pypirc",
        ".netrc",
        "_netrc",
        ".pgpass",
        ".htpasswd",
        ".git-credentials",
        ".docker/config.json",
        ".kube/config",
        ".aws/credentials",
        ".aws/config",
        "credentials",
        "credentials.json",
        "credentials.yml",
        "config/credentials.yml.enc",
        "gcp-credentials.json",
        "service-account.json",
        "service-account-prod.json",
        "client_secret_123.json",
        "secrets.yml",
        "secrets.json",
        "terraform.tfstate",
        "terraform.tfstate.backup",
        "prod.tfvars",
        "vault.kdbx",
        "vpn.ovpn",
        "key.ppk",
        ".vault-token",
        "web\\.env",
        ".env.",
        ".env::$DATA",
    ],
)
def test_secret_by_name(path: str) -> None:
    assert is_secret_file(path)


@pytest.mark.parametrize(
    "path",
    [
        ".env.example",
        ".env.sample",
        "web/.env.template",
        ".env.dist",
        "environment.py",
        "env.ts",
        "src/env/index.ts",
        "id_rsa.pub",
        ".ssh/id_rsa.pub",
        "id_generator.py",
        "id_map.json",
        "credentials.py",
        "src/credentials.ts",
        "credentials.md",
        "secrets.py",
        "docs/secrets.md",
        "secretary.txt",
        "keyboard.json",
        "monkey.txt",
        "package.json",
        "package-lock.json",
        "settings.json",
        "tokens.json",
        "tokenizer.json",
        "config.json",
        "kube/config",
        "docker/config.json",
        "terraform.tf",
        "variables.tf",
        "README.md",
        "pem.go",
        "key.rs",
        "credentials.example.json",
    ],
)
def test_readable_by_name(path: str) -> None:
    assert not is_secret_file(path)


def test_the_root_itself_is_no_secret_file() -> None:
    assert not is_secret_file(".")
    assert not is_secret_file("")
