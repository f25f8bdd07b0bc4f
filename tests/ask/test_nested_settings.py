"""Settings whose names join those of nested tables."""

import asyncio

import pytest

from cortex.ask.references.nested_settings import find_joined_names
from cortex.ask.references.uses import UsesQuestion, uses
from tests.ask.searched import ask, write

FILES = {
    "shop/defaults.py": """OPTIONS = Space(
    parcel=Space(
        size_limit=Option(4, type="int"),
        label=Space(
            size_limit=Option(7),
        ),
    ),
    courier=Space(
        size_limit=Option(9),
    ),
)
""",
    "shop/send.py": """def send_parcel(conf, size_limit=1):
    if conf.parcel_size_limit > size_limit:
        return conf.parcel_label_size_limit
""",
    "deploy.yml": "courier:\n  wait:\n    for-seconds: 5\nother:\n  for-seconds: 6\n",
    "tool.toml": "[tool.courier]\nretry_count = 3\n\n[other]\nretry_count = 4\n",
}


@pytest.fixture(scope="module")
def shop(tmp_path_factory, serve):
    root = tmp_path_factory.mktemp("settings")
    write(root, FILES)
    return serve(root)


def places(block):
    return [(file["file"], site["line"]) for file in block["files"] for site in file["sites"]]


@pytest.mark.parametrize(
    ("name", "of", "place"),
    [
        ("parcel_size_limit", "size_limit in parcel", ("shop/defaults.py", 3)),
        ("courier_size_limit", "size_limit in courier", ("shop/defaults.py", 9)),
        ("parcel_label_size_limit", "size_limit in parcel_label", ("shop/defaults.py", 5)),
        ("courier_wait_for_seconds", "for_seconds in courier_wait", ("deploy.yml", 3)),
        ("courier_retry_count", "retry_count in courier", ("tool.toml", 2)),
    ],
)
def test_a_setting_is_at_its_line_in_the_table(shop, name, of, place):
    (block,) = ask(shop, f"what is the default of {name}")["sites"]
    assert (block["of"], places(block)) == (of, [place])
    first = asyncio.run(uses(shop.context(), UsesQuestion(name)))["sites"][0]
    assert (first["of"], places(first)) == (of, [place])


@pytest.mark.parametrize("query", ["send_parcel", "other_size_limit", "how is a parcel sent"])
def test_other_names_have_no_such_line(shop, query):
    assert "sites" not in ask(shop, query)


def test_names_of_small_words_may_be_settings():
    assert find_joined_names("the default of worker_prefetch_multiplier, a-b_c, x/y_z, A_B and f_g()") == [
        "worker_prefetch_multiplier"
    ]
