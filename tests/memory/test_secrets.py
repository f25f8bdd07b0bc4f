"""Secrets are taken out by their formats, and nothing else is."""

import pytest

from cortex.memory.secrets import remove_secrets, remove_secrets_in

#: kind → an example that its issuer documents, or that is made like one
EXAMPLES = {
    "private key": "-----BEGIN RSA PRIVATE KEY-----\nMIIE\nabc\n-----END RSA PRIVATE KEY-----",
    "AWS key": "AKIAIOSFODNN7EXAMPLE",
    "GitHub token": "ghp_" + "0123456789" * 4,
    "GitLab token": "glpat-" + "a1B2c3D4e5" * 2,
    "Slack token": "xoxb-" + "1234567890-abc",
    "Slack webhook": "https://hooks.slack.com/services/T000/B000/" + "X" * 24,
    "Anthropic key": "sk-ant-api03-" + "a" * 30,
    "OpenAI key": "sk-proj-" + "b" * 40,
    "Stripe key": "sk_live_" + "c" * 24,
    "Google key": "AIza" + "d" * 35,
    "Google token": "ya29." + "e" * 30,
    "npm token": "npm_" + "f" * 36,
    "PyPI token": "pypi-AgEIcHlwaS5vcmc" + "g" * 60,
    "Hugging Face token": "hf_" + "h" * 34,
    "SendGrid key": "SG." + "i" * 22 + "." + "j" * 43,
    "Twilio key": "SK" + "0123456789abcdef" * 2,
    "Telegram token": "123456789:AA" + "k" * 33,
    "DigitalOcean token": "dop_v1_" + "0" * 64,
    "JSON web token": "eyJhbGciOiJI.eyJzdWIiOiIx.c2ln",
    "storage key": "AccountKey=" + "l" * 60 + "==",
    "password in an address": "postgres://user:hunter22@",
    "password": "DB_PASSWORD=correcthorse1",
}


@pytest.mark.parametrize(("kind", "secret"), EXAMPLES.items())
def test_each_kind_is_taken_out_of_the_middle_of_a_text(kind, secret):
    text, kinds = remove_secrets(f"before {secret} after")
    assert kinds == [kind]
    assert text.startswith("before ")
    assert text.endswith("after")
    assert f"[removed: {kind}]" in text


def test_a_private_key_without_an_end_goes_to_the_end():
    assert remove_secrets("x -----BEGIN PRIVATE KEY-----\nMII\nmore")[0] == "x [removed: private key]"


@pytest.mark.parametrize(
    "text",
    [
        "sha256 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "commit 6503fc2d5b0b822cd15d6c15b0f00a08aaaabbbb",
        "id 01a20044-5e3e-7160-975e-447866b7f222",
        "the password must be at least eight characters",
        "password = os.environ['DB_PASSWORD']",
        'password: "${DB_PASSWORD}"',
        "api_key=settings.api_key_of_provider",
        "def reset_password(user, token): ...",
        "see https://example.com/a:b and git@github.com:a/b",
        "sk-learn, task-oriented, desk-",
    ],
)
def test_what_is_no_secret_stays(text):
    assert remove_secrets(text) == (text, [])


def test_names_and_values_in_metadata_are_searched():
    token = EXAMPLES["npm token"]
    clean, kinds = remove_secrets_in({"a": [token, {token: 1}], "n": 3})
    assert token not in str(clean)
    assert kinds == ["npm token", "npm token"]
    assert clean["n"] == 3
