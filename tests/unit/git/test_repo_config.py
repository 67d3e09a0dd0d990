"""A repository's configuration: its credentials are found, and none of it is shown."""

from __future__ import annotations

import base64
from pathlib import Path

import pytest
from support.git_repo import Repo

from tilth.git.repo_config import clean_configuration, credentials
from tilth.git.source import open_source

TOKEN = "ghp_0123456789abcdefghij"
BASIC = base64.b64encode(f"x-access-token:{TOKEN}".encode()).decode()


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    return Repo(tmp_path / "repo")


@pytest.mark.parametrize(
    ("key", "value", "secrets"),
    [
        ("remote.origin.url", f"https://x-access-token:{TOKEN}@github.com/a/b.git", {TOKEN}),
        ("remote.origin.url", f"https://{TOKEN}@github.com/a/b.git", {TOKEN}),
        ("remote.origin.pushurl", "https://me:pass%2Fword%21@host/a", {"pass/word!"}),
        (f"url.https://me:{TOKEN}@host/.insteadOf", "https://host/", {TOKEN}),
        ("http.extraheader", f"AUTHORIZATION: bearer {TOKEN}", {TOKEN}),
        ("http.https://host/.extraHeader", f"X-Token: {TOKEN}", {TOKEN}),
        ("http.extraheader", f"AUTHORIZATION: basic {BASIC}", {BASIC, TOKEN}),
        ("sendemail.smtpPass", "correct-horse", {"correct-horse"}),
        ("http.cookie", f"sid={TOKEN}; theme=dark", {f"sid={TOKEN}; theme=dark", TOKEN}),
        ("hub.https://host/.apiToken", TOKEN, {TOKEN}),
        ("shop.passwd", TOKEN, {TOKEN}),
        ("shop.clientSecret", TOKEN, {TOKEN}),
        ("shop.api-key", TOKEN, {TOKEN}),
        ("lfs.url", f"https://host/lfs?private_token={TOKEN}&page=1", {TOKEN}),
        ("alias.ask", f"!curl -H 'Authorization: Bearer {TOKEN}' https://host", {TOKEN}),
        *(
            (f"credential.{where}helper", helper, {secret})
            for where in ("", "https://Host/.")
            for helper, secret in (
                (f"!f() {{ echo password={TOKEN}; }}; f", TOKEN),
                (f'!f() {{ echo username=me; echo "password={TOKEN}";}}; f', TOKEN),
                ("!f() { echo 'password=with; a blank'; }; f", "with; a blank"),
                (f"!printf 'username=me\\npassword={TOKEN}\\n'", TOKEN),
                (f"!sh -c 'echo \"password={TOKEN}\"'", TOKEN),
                (f"!echo 'password={TOKEN}", TOKEN),
                (f"!helper --token {TOKEN} get", TOKEN),
                (f"helper --api-key={TOKEN}", TOKEN),
            )
        ),
    ],
)
def test_a_credential_is_found_and_never_shown(
    repo: Repo, key: str, value: str, secrets: set[str]
) -> None:
    repo.git("config", key, value)
    source = open_source(repo.root)
    assert secrets <= set(credentials(source))
    assert not any(secret in clean_configuration(source) for secret in secrets)


@pytest.mark.parametrize(
    "value",
    ["git@github.com:a/b.git", "ssh://git@github.com/a/b.git", "https://github.com/a/b.git"],
)
def test_an_address_without_a_secret_holds_none(repo: Repo, value: str) -> None:
    repo.git("config", "remote.origin.url", value)
    assert credentials(open_source(repo.root)) == ()


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("credential.helper", "!f() { echo password=$TOKEN_OF_MINE; }; f"),
        ("credential.helper", '!echo "password=$(cat /home/me/token-file)"'),
        ("credential.helper", "!pass-helper --no-cookie --store /home/me/store"),
        ("credential.helper", "store --file /home/me/passwords"),
        ("credential.helper", "!pass-helper --token-file /home/me/t --password-file=/home/me/p"),
        ("http.cookieFile", "/home/me/.cookies-of-git"),
        ("http.sslCertPasswordProtected", "always"),
        ("user.name", "A token collector"),
        ("core.sshCommand", "ssh -o PasswordAuthentication=no -i ~/.ssh/key"),
    ],
)
def test_what_only_speaks_of_a_secret_holds_none(repo: Repo, key: str, value: str) -> None:
    repo.git("config", key, value)
    assert credentials(open_source(repo.root)) == ()
