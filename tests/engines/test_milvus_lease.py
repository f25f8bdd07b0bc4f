"""The lease on a project in a Milvus server: with a real PostgreSQL server."""

import dataclasses
import os
import signal

import pytest
from sqlalchemy import text

from cortex.engines.milvus.place import Milvus, MilvusPlace
from cortex.engines.milvus.storage.lease import lease
from cortex.system.errors import Misconfigured, Occupied, Unavailable
from tests.postgres import serving
from tests.wait_until import until

PLACE = MilvusPlace("http://milvus.example:19530", "", "cortex", "shop", 384)


@pytest.fixture(scope="module")
def server():
    with serving() as started:
        yield started


@pytest.fixture
def settings(server):
    return Milvus(uri=PLACE.address, lease=server.address())


def test_a_lease_excludes_a_second_indexer_of_the_same_project_only(settings):
    with lease(PLACE, settings) as check:
        check()
        with (
            pytest.raises(Occupied, match=r"shop in Milvus at .* is being indexed by another indexer: wait"),
            lease(PLACE, settings),
        ):
            pass
        with lease(dataclasses.replace(PLACE, project="other"), settings) as other:
            other()
        check()
    with lease(PLACE, settings) as renewed:
        renewed()


def test_a_closed_connection_loses_the_lease_and_is_refused_before_it_publishes(server, settings):
    with lease(PLACE, settings) as check:
        with server.connection() as connection:
            connection.execute(
                text("SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory'")
            )
            locks = text("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'")
            until(lambda: connection.execute(locks).scalar() == 0, "the backend has ended")
        with pytest.raises(Occupied, match="another indexer"):
            check()
        with lease(PLACE, settings) as other:
            other()
        with pytest.raises(Occupied):
            check()


def test_a_hanging_lease_server_is_reported_in_time(server, settings, monkeypatch):
    monkeypatch.setattr("cortex.engines.milvus.storage.lease.ANSWER_S", 0.5)
    with lease(PLACE, settings) as check:
        check()
        with server.connection() as connection:
            backend_query = "SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND granted"
            (backend,) = connection.execute(text(backend_query)).scalars()
        os.kill(backend, signal.SIGSTOP)
        try:
            with pytest.raises(Occupied, match="perhaps another indexer"):
                check()
        finally:
            os.kill(backend, signal.SIGCONT)


def test_an_unreachable_lease_server_is_reported_without_its_password():
    settings = Milvus(uri=PLACE.address, lease="postgresql://ada:secret@127.0.0.1:1/locks")
    with pytest.raises(Unavailable, match=r"milvus\.lease cannot be asked") as raised, lease(PLACE, settings):
        pass
    assert "secret" not in str(raised.value)


def test_an_invalid_lease_address_is_reported_without_its_password():
    with (
        pytest.raises(Misconfigured, match=r"milvus\.lease is no address") as refused,
        lease(PLACE, Milvus(lease="postgresql:/ada:secret@db")),
    ):
        pass
    assert "secret" not in str(refused.value)
    assert refused.value.__suppress_context__


def test_indexing_without_a_lease_needs_single_writer():
    with (
        pytest.raises(Misconfigured, match=r"set milvus\.lease .* or pass --single-writer"),
        lease(PLACE, Milvus(uri=PLACE.address)),
    ):
        pass
    with lease(PLACE, Milvus(uri=PLACE.address, single_writer=True)) as check:
        check()
