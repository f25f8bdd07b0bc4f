"""Secrets are removed by their formats on every way in, and other text is not."""

import json
import re

import pytest

from cortex.memory.library import Library, finish
from cortex.memory.note import Source
from cortex.memory.operations import carry_out
from cortex.system.errors import BadRequest
from cortex.terms.text.secrets import remove_secrets, remove_secrets_in

#: kind → an example from its issuer's documentation, or one made like it
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
    "Discord token": "M" + "aB3" * 8 + ".Gx7y_Z." + "q9-" * 9,
    "Mailchimp key": "0123456789abcdef" * 2 + "-us14",
    "Square key": "sq0csp-" + "Ab1_" * 10 + "xyz",
    "Artifactory key": "AKCp8" + "k3J" * 20,
    "key": 'cloud_iam_token = "' + "Zx9_" * 11 + '"',
    "key in an address": "https://api.softlayer.com/soap/v3.1/" + "0a1b" * 16,
    "JSON web token": "eyJhbGciOiJI.eyJzdWIiOiIx.c2ln",
    "storage key": "AccountKey=" + "l" * 60 + "==",
    "password in an address": "postgres://user:hunter22@",
    "password": "DB_PASSWORD=correcthorse1",
}
#: texts like those that Yelp's detect-secrets 1.5 finds, by its detectors, in our own words: all
#: but bare words of 13 letters that begin like a key of Artifactory's, and entropy alone
DETECTED = {
    "artifactory": ("X-JFrog-Art-Api: AKCp" + "7h2Q" * 12, "_password=AP5" + "bK9z" * 10),
    "aws": (
        "ASIA" + "QWER" * 4,
        "A3T0" + "ABCD" * 4,
        'aws_secret = "' + "aB3/" * 10 + '"',
        "AWS_SECRET_ACCESS_KEY=" + "zY9+" * 10,
    ),
    "azure": ("DefaultEndpointsProtocol=https;AccountKey=" + "Q2w3" * 21 + "ab==",),
    "basic_auth": ("curl https://ada:engine1843@example.com/x",),
    "cloudant": (
        'cloudant_password = "' + "ab01" * 16 + '"',
        "cl_key: " + "qwertyuiopas" * 2,
        "https://shop:" + "ab01" * 16 + "@shop.cloudant.com",
    ),
    "discord": ("token: N" + "z4Q" * 8 + ".Yx_81a." + "k3-" * 12,),
    "github": tuple(f"gh{letter}_" + "0aZ9" * 9 for letter in "pousr"),
    "gitlab": tuple(
        f"{start}{'xY7_' * 16}"
        for start in (
            "glpat-", "gldt-", "glft-", "glsoat-", "glrt-", "GR1348941", "glcbt-", "glcbt-1f_", "glimt-", "glptt-",
            "glagent-", "gloas-",
        )
    ),
    "ibm": (
        "ibm_cloud_iam_api_key=" + "aZ3-" * 11,
        '"iam-password": "' + "bQ7_" * 11 + '"',
        "cos_hmac_secret_access_key: " + "0af9" * 12,
    ),
    "jwt": ("eyJhbGciOiJub25lIn0.eyJ1c2VyIjoiYWRhIn0", "eyJhbGciOiJIUzI1NiJ9.eyJ1c2VyIjoiYWRhIn0.c2lnbmVk"),
    "keyword": (
        'password = "a phrase of several words"',
        "db_pass: tr0ub4dor&3",
        "private_key: m1n0taur!!",
        'if (api_key == "m1n0taur!!") {',
        'secret := "m1n0taur!!"',
        "pwd=m1n0taur!!",
        "passwd => 'm1n0taur!!'",
    ),
    "mailchimp": ("fedcba9876543210" * 2 + "-us3",),
    "npm": (
        "//registry.example.com/:_authToken=npm_" + "Ab0" * 12,
        "//r.example.com/:_authToken=0a1b2c3d-0a1b-0a1b-0a1b-0a1b2c3d4e5f",
    ),
    "openai": ("sk-" + "aB3d" * 5 + "T3BlbkFJ" + "aB3d" * 5, "sk-proj-x-" + "aB3d" * 5 + "T3BlbkFJ" + "aB3d" * 5),
    "private_key": (
        "-----BEGIN DSA PRIVATE KEY-----\nMIIE\n",
        "-----BEGIN OPENSSH PRIVATE KEY-----\nMIIE\n",
        "-----BEGIN PGP PRIVATE KEY BLOCK-----\nMIIE\n",
        "---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----\nMIIE\n",
        "PuTTY-User-Key-File-2: ssh-rsa\nEncryption: none\nPrivate-MAC: 0af1",
    ),
    "pypi": ("pypi-AgEIcHlwaS5vcmc" + "aB3_" * 20, "pypi-AgENdGVzdC5weXBpLm9yZw" + "aB3_" * 20),
    "sendgrid": ("SG." + "aB3-" * 5 + "xy." + "aB3-" * 10 + "xyz",),
    "slack": (
        "xoxp-12345-67890-abcdef",
        "XOXB-12345-67890-abcdef".lower(),
        "https://hooks.slack.com/services/T0A1/B0A1/a1B2c3D4e5F6",
    ),
    "softlayer": ("sl_api_key=" + "0a1b" * 16, "http://api.softlayer.com/soap/v3/" + "0a1b" * 16),
    "square": ("square_oauth = sq0csp-" + "aB3_" * 10 + "x-y",),
    "stripe": ("sk_live_" + "aB3d" * 6, "rk_live_" + "aB3d" * 6),
    "telegram": ("bot 110201543:AA" + "aB3" * 11,),
    "twilio": ("SK" + "0a1b" * 8, "AC" + "0a1b" * 8),
}  # fmt: skip


@pytest.mark.parametrize(("kind", "secret"), EXAMPLES.items())
def test_each_kind_of_secret_is_removed_from_the_middle_of_a_text(kind, secret):
    text, kinds = remove_secrets(f"before {secret} after")
    assert kinds == [kind]
    assert text.startswith("before ")
    assert text.endswith("after")
    assert f"[removed: {kind}]" in text


@pytest.mark.parametrize(
    ("detector", "text"), [(name, text) for name, all_ in DETECTED.items() for text in all_]
)
def test_secrets_that_detect_secrets_finds_are_removed(detector, text):
    clean, kinds = remove_secrets(text)
    assert kinds, detector
    left = re.sub(r"\[removed: [^\]]*\]", "", clean)
    assert not re.search(r"(?=[A-Za-z]*[0-9])[A-Za-z0-9]{8,}", left)


def test_a_placeholder_for_a_password_may_hold_another_secret():
    token = EXAMPLES["GitHub token"]
    for text in (f"api_key=your-{token}", f"password: example {token}", f"token = {token}"):
        assert remove_secrets(text)[1] == ["GitHub token"]


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
        "secretary: Margaret, PWD=/home/me/project",
        "idempotency_key=01a20044-5e3e-7160-975e-447866b7f222",
        "cache_key: 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "primary key: project_id, sort(key=lambda note: note.number)",
        "the token = next_token_of_the_stream, factory_token: AbstractTokenFactoryBuilderImplementation_XYZ",
    ],
)
def test_text_without_secrets_stays(text):
    assert remove_secrets(text) == (text, [])


def test_names_and_values_in_metadata_are_searched():
    token = EXAMPLES["npm token"]
    clean, kinds = remove_secrets_in({"a": [token, {token: 1}], "n": 3})
    assert token not in str(clean)
    assert kinds == ["npm token", "npm token"]
    assert clean["n"] == 3


TAIL = "a1b2c3d4" * 5
TOKEN = f"ghp_{TAIL}"
#: halves of a secret that would join when control characters are removed
SPLIT = f"gh\0p_{TAIL[:9]}\x01{TAIL[9:]}"


@pytest.fixture
def library(data):
    with Library.open(data, project="here") as library:
        yield library


def files_with_token(library, data):
    """Return the files that contain any spelling of the token."""
    library.settle()
    library.memory.store.database.truncate_log()
    return [
        path.name
        for path in data.rglob("*")
        if path.is_file() and TAIL.encode() in path.read_bytes().lower().replace(b"-", b"")
    ]


def everywhere(token):
    """Return arguments of `store` with the token in each text."""
    return {
        "title": f"Where {token} is",
        "body": f"in {token}",
        "tags": [token, f"with {token}"],
        "facts": [token],
        "files": [f"src/{token}.py"],
        "anchors": [f"src/a:{token}"],
        "metadata": {token: [{"deep": token}]},
        "obs_type": token,
    }


@pytest.mark.parametrize("token", [TOKEN, SPLIT])
def test_no_field_of_a_write_keeps_a_secret(library, data, token):
    by = Source(f"agent {token}", f"session {token}", "mcp", "agent")
    outcome = carry_out(library, "store", everywhere(token), source=by, operation_id="one")
    assert outcome["removed"] == ["GitHub token"]
    assert TAIL not in str(outcome)
    other = carry_out(library, "store", {"title": "Another note"})["id"]
    outcome = carry_out(library, "store", {"id": other} | everywhere(token), source=by, operation_id="two")
    assert outcome["removed"] == ["GitHub token"]
    for arguments in ({"kind": TOKEN}, {"project": TOKEN}):
        with pytest.raises(BadRequest, match=r"secret|removed") as refused:
            carry_out(library, "store", {"title": "x"} | arguments)
        assert TAIL not in str(refused.value)
    with pytest.raises(BadRequest, match="secret"):
        carry_out(library, "store", {"title": "x"}, operation_id=TOKEN)
    with pytest.raises(BadRequest, match="removed"):
        carry_out(
            library, "relate", {"from_id": outcome["id"], "to_id": other, "relation": f"is-{TOKEN}"[:43]}
        )
    for question in ("search", "recall", "timeline"):
        carry_out(library, question, {"query": TOKEN})
    carry_out(library, "undo", {})
    assert files_with_token(library, data) == []


def note_of(token):
    return {"note": {
        "title": token, "body": token, "kind": "fact", "subtitle": token, "obs_type": token, "facts": [token],
        "labels": [token], "files": [token], "metadata": {token: token}, "source": {"agent": token, "session": token},
        "revisions": [{"until": 1, "held": {"title": token, "body": token, "labels": [token]}}],
    }}  # fmt: skip


@pytest.mark.parametrize("token", [TOKEN, SPLIT])
def test_no_way_in_of_a_file_keeps_a_secret(library, data, tmp_path, token):
    ours = [
        note_of(token),
        {"note": {"title": "other", "kind": token}},
        {"edge": {"source": "a", "target": "b", "relation": token}},
    ]
    theirs = [
        {"type": "entity", "name": "Ada", "entityType": token, "observations": [token]},
        {"type": "entity", "name": f"Ben {token}", "entityType": "person", "observations": [token] * 101},
        {"type": "relation", "from": "Ada", "to": f"Ben {token}", "relationType": token},
    ]
    pages = tmp_path / "pages"
    pages.mkdir()
    written = token.replace("\0", "").replace("\x01", "")
    (pages / f"{written}.md").write_text("A page whose name is its title.")
    front = f"title: {written}\nkind: {written}\ntags: [{written}]\nfiles: {written}\nfacts: [{written}]"
    (pages / "b.md").write_text(f"---\n{front}\n---\n{written}")
    for name, records in (("ours.jsonl", ours), ("theirs.json", theirs)):
        (tmp_path / name).write_text("\n".join(map(json.dumps, records)))
        report = finish(library.import_file(str(tmp_path / name)))
        assert TAIL not in str(report)
    report = finish(library.import_file(str(pages)))
    assert TAIL not in str([row["why"] for row in report["refused"]])
    assert library.stats()["node_count"] >= 4
    assert files_with_token(library, data) == []
