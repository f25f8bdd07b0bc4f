"""Changes that a builder prepares before publishing them."""

import contextlib

import pytest

from cortex.engines.text.engine import TextEngine
from cortex.generation import current as generations
from cortex.publish.builder import Builder
from cortex.publish.merging import Limits
from tests.publish.small_projects import Reader, chunk, drain, write


def test_what_is_prepared_is_served_when_it_is_published_and_not_before(config, builder):
    write(config, "a.json", [chunk(1)])
    before = drain(builder)
    write(config, "a.json", [chunk(2)])
    assert builder.prepare().number == before.number + 1
    assert builder.prepare() is None
    assert builder.current == generations.read_current(config.index_dir) == before
    reader = Reader(config)
    assert reader.exact("function_1")
    assert not reader.exact("function_2")
    assert builder.refresh().number == before.number + 1
    assert builder.refresh() is None
    assert not reader.exact("function_1")
    assert reader.exact("function_2")
    assert reader.nearest(2) == "code-f2.py#f2~1"


def test_what_changes_after_preparing_is_published_with_what_was_prepared(config, builder):
    write(config, "a.json", [chunk(1), chunk(2)])
    before = drain(builder)
    write(config, "a.json", [chunk(1), chunk(3)])
    builder.prepare()
    write(config, "a.json", [chunk(4)])
    write(config, "b.json", [chunk(5)])
    assert builder.refresh().rows == 2
    assert builder._previous == before  # one publish, not two
    reader = Reader(config)
    assert reader.exact("function_4")
    assert reader.exact("function_5")
    assert not any(reader.exact(f"function_{at}") for at in (1, 2, 3))


def test_a_new_builder_forgets_prepared_changes(config, builder):
    write(config, "a.json", [chunk(1)])
    before = drain(builder)
    write(config, "a.json", [chunk(2)])
    builder.prepare()
    builder.close()
    write(config, "a.json", [chunk(1), chunk(3)])
    with contextlib.closing(Builder(config)) as restarted:
        assert restarted.current == before
        assert drain(restarted).rows == 2
    reader = Reader(config)
    assert reader.exact("function_1")
    assert reader.exact("function_3")
    assert not reader.exact("function_2")


@pytest.mark.parametrize("step", ["publish", "text"])
def test_what_was_prepared_is_built_again_when_publishing_fails(config, builder, monkeypatch, step):
    write(config, "a.json", [chunk(1)])
    before = drain(builder)
    write(config, "a.json", [chunk(1), chunk(2)])
    builder.prepare()
    write(config, "b.json", [chunk(3)])

    def full(*_args, **_kwargs):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(*{"publish": (generations, "publish"), "text": (TextEngine, "build")}[step], full)
    for _ in range(2):
        with pytest.raises(OSError, match="No space"):
            builder.refresh()
    assert generations.read_current(config.index_dir) == before
    monkeypatch.undo()
    assert drain(builder).rows == 3
    assert [len(Reader(config).exact(f"function_{at}")) for at in (1, 2, 3)] == [1, 1, 1]


def test_a_large_change_that_is_prepared_is_published_before_more_is_built(config):
    with contextlib.closing(Builder(config, limits=Limits(rows_min=10))) as builder:
        drain(builder)
        write(config, "a.json", [chunk(at) for at in range(20)])
        builder.prepare()
        write(config, "b.json", [chunk(at) for at in range(20, 30)])
        assert builder.refresh().rows == 20
        assert builder.refresh().rows == 30
