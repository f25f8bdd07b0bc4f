"""Edits of agents' files in JSON, TOML and YAML: the entry alone changes."""

import json
import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cortex.front.agents.edits import json_files, pieces, toml_files, yaml_files
from cortex.front.agents.table import NAME

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=8,
)


@given(
    st.dictionaries(st.text(max_size=6), VALUES, max_size=4),
    st.sampled_from([None, 0, 1, 2, 4, "\t"]),
    st.booleans(),
    st.booleans(),
)
def test_in_any_object_the_entry_is_added_and_the_rest_stays(value, indent, ascii_only, windows):
    value = {key: member for key, member in value.items() if key != "mcpServers"}
    text = json.dumps(value, indent=indent, ensure_ascii=ascii_only)
    text = text.replace("\n", "\r\n") if windows else text
    piece = json_files.json_entry(text, ("mcpServers", "cortex"), {"command": "x", "args": ["mcp"]})
    after = piece.apply_to(text)
    assert json.loads(after) == {"mcpServers": {"cortex": {"command": "x", "args": ["mcp"]}}} | value
    assert after[: piece.at] + after[piece.at + len(piece.text) :] == text
    assert json_files.json_entry(after, ("mcpServers", "cortex"), {"command": "x", "args": ["mcp"]}) is None
    assert json.loads(json_files.remove_json_entry(after, ("mcpServers",))) == value


@pytest.mark.parametrize(
    "text",
    [
        '[mcp_servers."cortex"]\ncommand = "x"\n[mcp_servers.cortex.env]\nA = """\n[b]\n"""\n',
        '[mcp_servers.git]\ncommand = "git"\n\n[ mcp_servers . cortex ] # ours\nargs = [\n  "a",\n]\n# of c\n[c]\nd = 1\n',
        '[mcp_servers.cortex]\ncommand = "x"\n[[rows]]\na = 1\n[[rows]]\na = 2\n',
        '[mcp_servers.cortex.tools.a]\nb = "c"\n[mcp_servers.cortex]\ncommand = "x"',
    ],
)
def test_a_table_is_cut_out_of_toml_and_the_rest_keeps_its_bytes(text):
    shorter = toml_files.remove_toml_table(text, ("mcp_servers", "cortex"))
    assert "cortex" not in shorter
    left = tomllib.loads(text)
    del left["mcp_servers"]["cortex"]
    assert tomllib.loads(shorter) == {key: value for key, value in left.items() if value}
    assert all(line in text.splitlines() for line in shorter.splitlines())
    assert ("# of c" in shorter) == ("# of c" in text)


@pytest.mark.parametrize(
    "text", ['mcp_servers = {cortex = {command = "x"}}\n', '[mcp_servers]\ncortex.command = "x"\n']
)
def test_an_entry_that_is_no_table_stays_with_a_reason(text):
    with pytest.raises(pieces.NotUnderstoodError, match="not written as tables"):
        toml_files.remove_toml_table(text, ("mcp_servers", "cortex"))


def test_comments_and_siblings_stay_in_yaml():
    text = (
        "# mine\nextensions:\n  # ours\n  cortex:\n    args: [a,\n      b]\n    cmd: |\n      x\n"
        "  # dev's\n  dev:\n    on: true\nrest: 1\n"
    )
    shorter = yaml_files.remove_yaml_entry(text, ("extensions", "cortex"), NAME)
    assert shorter == "# mine\nextensions:\n  # ours\n  # dev's\n  dev:\n    on: true\nrest: 1\n"
    listed = "mcpServers:\n- name: git\n  command: git\n- command: x\n  name: cortex\n# end\n"
    assert yaml_files.remove_yaml_entry(listed, ("mcpServers",), NAME) == (
        "mcpServers:\n- name: git\n  command: git\n# end\n"
    )
    with pytest.raises(pieces.NotUnderstoodError, match="in one line"):
        yaml_files.remove_yaml_entry(
            "extensions: {cortex: {a: 1}, dev: {}}\n", ("extensions", "cortex"), NAME
        )
