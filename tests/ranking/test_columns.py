"""The ranking over columns equals the ranking over objects, to the last bit."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from cortex.ranking import rank, weigh
from ipc.messages import Hit, signals_of
from tests.drawn_examples import scaled
from tests.ranking import reference_ranking

LANES = ("body", "path", "defs", "comments", "defx", "file_references", "foreign")
PATHS = (
    *("", "src/reader.py", "src/v3/reader.ts", "src/v4/reader.ts", "tests/test_reader.py"),
    *("examples/reader/index.js", "vendor/reader.c", "docs/reader.md", "a/b_pb2.py", "lib/Provider.java"),
)
KINDS = ("code", "definitions", "documentation", "config")
QUESTIONS = ("how does the reader read v3", "Provider", "a test of the reader", "lib", "the reader of src")

few = st.sampled_from([0.0, 0.25, 1.0, 1.0, 3.0])
chunks = st.lists(
    st.tuples(
        st.sampled_from(PATHS),
        st.sampled_from(KINDS),
        st.integers(0, 6),
        st.none() | st.fixed_dictionaries(dict.fromkeys(LANES, few)),
        st.none() | st.sampled_from([-0.5, 0.1, 0.1, 0.3, 0.9]),
        st.none() | st.tuples(st.sampled_from([0.0, 0.6, 1.0]), st.sampled_from([0.0, 1.0])),
    ),
    max_size=30,
)


def replies(rows, random):
    """Return signals of words, of meaning and of named places, each in a different order.

    Several rows may share an id, and ids are in another order than keys.
    """
    keys = random.sample(range(1, 1000), len(rows))
    hits = [
        Hit(key, f"c{name}", kind, path, name, name + 9)
        for key, (path, kind, name, *_) in zip(keys, rows, strict=True)
    ]

    def of(which, names, value, stats=None):
        present = [at for at in range(len(rows)) if rows[at][which] is not None]
        random.shuffle(present)
        values = np.array([value(rows[at][which]) for at in present], np.float32).reshape(-1, len(names)).T
        return signals_of(1, [hits[at] for at in present], names, values, stats)

    words = of(3, LANES, lambda lanes: [lanes[name] for name in LANES])
    stats = {"cosine_mean": 0.1, "cosine_std": 0.2, "rows": float(random.choice([5, 1000]))}
    meaning = of(4, ("cosine",), lambda cosine: [cosine], stats)
    return words, meaning, of(5, ("cited", "line"), list)


def flatten(ranked):
    return [
        (entry.hit, entry.score, entry.source, entry.total, entry.place, entry.factor, entry.base)
        for entry in ranked
    ] + [(term.name, term.value, term.weight) for entry in ranked for term in entry.terms]


@settings(max_examples=scaled(150), deadline=None)
@given(
    chunks,
    st.sampled_from(QUESTIONS),
    st.randoms(use_true_random=False),
    st.integers(1, 40),
    st.integers(0, 7),
)
def test_columns_are_ranked_as_objects_are(rows, question, random, limit, which):
    words, meaning, cited = replies(rows, random)
    lanes = (words if which & 1 else None, meaning if which & 2 else None)
    weights = weigh(vectors=lanes[1] is not None)
    also = [cited] if which & 4 else []
    ranked = rank(question, *lanes, weights, limit, extra_signals=also)
    assert flatten(ranked) == flatten(
        reference_ranking.rank(question, *lanes, weights, limit, extra_signals=also)
    )
