"""One small project, a few questions, and their agreed ranking. CORTEX_UPDATE_GOLDEN=1
writes it.
"""

import json
import os
from pathlib import Path

import numpy as np
import pytest

from cortex.ranking import rank, weigh
from cortex.terms.tokens import lane_words
from ipc.messages import Hit, signals_of

GOLDEN = Path(__file__).parents[1] / "golden" / "ranking.json"

FILES = {
    "src/auth/session.py": [
        "class Session: opens and closes a user's session",
        "def refresh_token(session): a new token",
    ],
    "src/auth/token.py": [
        "class TokenStore: keeps tokens with their expiry",
        "def expire(token): removes an expired token",
    ],
    "src/http/client.py": [
        "class HttpClient: sends requests and retries them",
        "def retry(request): waits and sends again",
    ],
    "src/http/__init__.py": ["exports of the http package"],
    "tests/test_session.py": [
        "def test_a_session_is_refreshed(): session token refresh",
        "session session token",
    ],
    "examples/login.py": ["session = open a session with a token and print it"],
    "docs/guide.md": ["how a session and its token work: a token expires and the session is refreshed"],
}
QUESTIONS = [
    "how is a session token refreshed",
    "TokenStore",
    "retry of http requests",
    "test of the session",
]


def signals(question):
    """Return lanes of a toy engine: shared words for the body, word overlap for the cosine.
    Deterministic, not good.
    """
    words = set(lane_words(question))
    hits, body, path, defx, cosine = [], [], [], [], []
    for file, texts in FILES.items():
        for at, chunk in enumerate(texts):
            have = lane_words(chunk)
            kind = "documentation" if file.endswith(".md") else "code"
            hits.append(Hit(len(hits) + 1, f"code-{file}~{at}", kind, file, 10 * at + 1, 10 * at + 9))
            body.append(sum(2.0 / (1 + have.index(word)) for word in words if word in have))
            path.append(float(len(words & set(lane_words(file)))) if at == 0 else 0.0)
            defx.append(1.0 if chunk.startswith(f"class {question}:") else 0.0)
            cosine.append(len(words & set(have)) / (len(words) * len(have)) ** 0.5)
    zero = [0.0] * len(hits)
    text = signals_of(
        1,
        tuple(hits),
        ("body", "path", "defs", "comments", "defx"),
        np.array([body, path, zero, zero, defx], np.float32),
    )
    stats = {
        "cosine_mean": float(np.mean(cosine)),
        "cosine_std": float(np.std(cosine)),
        "rows": float(len(hits)),
    }
    return text, signals_of(1, tuple(hits), ("cosine",), np.array([cosine], np.float32), stats)


def answer(question, *, vectors):
    text, vector = signals(question)
    ranked = rank(question, text, vector if vectors else None, weigh(vectors=vectors), 6)
    return [f"{entry.hit.id} {entry.score:.3f}" for entry in ranked]


def test_the_ranking_is_as_agreed_on():
    got = {
        f"{q} [{'hybrid' if v else 'words'}]": answer(q, vectors=v) for q in QUESTIONS for v in (True, False)
    }
    if os.environ.get("CORTEX_UPDATE_GOLDEN"):
        GOLDEN.write_text(json.dumps(got, indent=1) + "\n")
        pytest.skip("written anew")
    assert got == json.loads(GOLDEN.read_text())
