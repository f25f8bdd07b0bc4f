"""The lines of a long function that cortex_search shows."""

import asyncio

import orjson
import pytest

from cortex.front.tools import TOOLS

STEPS = "\n".join(f"    step_{at}(record, {at});" for at in range(40))
LOGS = "\n".join(
    f'    log_line("Done loading records as master, expired records: %d, skip already {at}", stats.records_expired);'
    for at in range(18)
)
LOADER = f"""/* Begins to load: expired records are none. */
void start_loading(void) {{
    stats.records_expired = 0;
}}

int load_records(struct source *source) {{
{STEPS}
    if (is_master() && record->expires < now) {{
        free_record(record);
        stats.records_expired++;
    }}
{STEPS.replace("step", "then")}
{LOGS}
    return 0;
}}

int try_expire(struct record *record) {{
    if (record->expires < now) {{
        free_record(record);
        return 1;
    }}
    return 0;
}}

{LOGS.replace("    log_line", "/* log_line").replace(");", "); */")}

void expire_replica_records(void) {{
    int count = 0;
    while (count < 100) {{
        count += try_expire(next_record());
    }}
}}
"""


@pytest.fixture(scope="module")
def loader(tmp_path_factory, serve):
    """A long function that counts in one place and logs in many."""
    root = tmp_path_factory.mktemp("loader")
    (root / "loader.c").write_text(LOADER)
    return serve(root)


def call(served, query, **more):
    tool = TOOLS["cortex_search"]
    arguments = tool.check({"query": query, "paths": ["loader.c"]} | more)
    return orjson.loads(orjson.dumps(asyncio.run(tool.call(served.context(), arguments))))


def shown_text(served, query, **more):
    answer = call(served, query, **more)
    return "\n".join(result["chunk"]["text"] for result in answer["results"])


@pytest.mark.parametrize("limit", [1, 2])
def test_code_is_shown_as_the_question_spells_it_before_lines_with_its_words(loader, limit):
    query = "skip already expired records when loading as master, records_expired++"
    text = shown_text(loader, query, limit=limit, max_tokens=450)
    assert "is_master() && record->expires < now" in text
    assert "stats.records_expired++;" in text


def test_a_line_with_a_name_of_the_question_comes_before_those_that_share_its_words(loader):
    text = shown_text(loader, "done loading records as master: `free_record`?", max_tokens=600)
    assert "free_record(record);" in text


def test_every_function_that_the_question_names_is_shown_however_few_are_wanted(loader):
    answer = call(loader, "expire_replica_records try_expire", limit=1)
    (result,) = answer["results"]
    assert "int try_expire(struct record *record) {" in result["chunk"]["text"]
    assert "void expire_replica_records(void) {" in result["chunk"]["text"]


def test_a_window_that_does_not_fit_is_cut(loader):
    (result,) = call(loader, "load_records is_master free_record", limit=1, max_tokens=150)["results"]
    text = result["chunk"]["text"]
    assert "int load_records(struct source *source) {" in text
    assert "free_record(record);" in text
    assert len(orjson.dumps(result["chunk"])) <= 600
