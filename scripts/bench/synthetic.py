"""A synthetic project for benchmarks: Python modules with known words, the same in every run."""

import random
from pathlib import Path

#: chunks that the indexer makes of a synthetic file
CHUNKS_PER_FILE = 12

VERBS = (
    "open close read write parse render merge split load store send receive encode decode sort "
    "filter count retry".split()
)
NOUNS = (
    "session token request response header buffer cache index segment chunk worker queue socket file path "
    "record user account ledger invoice report schema column query result cursor page event handler lock".split()
)
TOPICS = "auth billing network storage search render config events metrics sync".split()


def write_project(root: Path, chunks: int, per_file: int = CHUNKS_PER_FILE) -> None:
    """Write Python modules with the words of TOPICS, VERBS and NOUNS; the same in every run."""
    chance = random.Random(7)
    for number in range(max(1, chunks // per_file)):
        topic, noun = chance.choice(TOPICS), chance.choice(NOUNS)
        path = root / topic / f"{noun}_{number}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        parts = [
            f'"""The {noun}s of {topic}, number {number}."""\n\nLIMIT_{noun.upper()}_{number} = {number}\n'
        ]
        parts += [_function(chance, topic, number, at) for at in range(per_file - 3)]
        path.write_text("\n\n".join(parts))


def _function(chance: random.Random, topic: str, number: int, at: int) -> str:
    verb, noun, other = chance.choice(VERBS), chance.choice(NOUNS), chance.choice(NOUNS)
    body = [
        f"def {verb}_{noun}_{number}_{at}({noun}, {other}=None):",
        f'    """{verb.title()} one {noun} of {topic} after its {other}."""',
    ]
    for line in range(18):
        a, b, c = (chance.choice(NOUNS) for _ in range(3))
        body.append(
            f"    {a}_{line} = {chance.choice(VERBS)}_{b}({c}, {noun}, limit={chance.randint(1, 999)})"
        )
    return "\n".join([*body, f"    return {noun}", ""])
