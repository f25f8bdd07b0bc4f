"""Errors of servers that milvus-lite never raises. Words and codes were recorded from a Milvus
2.3.5 with `authorizationEnabled`; here a stub server sends them.
"""

from __future__ import annotations

import contextlib
from concurrent.futures import ThreadPoolExecutor

import pytest

from cortex.engines.milvus.place import MilvusPlace
from cortex.engines.milvus.storage.collection import Collection
from cortex.system.errors import Misconfigured, Unavailable

grpc = pytest.importorskip("grpc", reason="pymilvus is not here: pip install 'cortex-context-engine[milvus]'")
messages = pytest.importorskip("pymilvus.grpc_gen.milvus_pb2")
services = pytest.importorskip("pymilvus.grpc_gen.milvus_pb2_grpc")


class Server(services.MilvusServiceServicer):
    """A server of that version; accepts one token, and reports only its user."""

    def __init__(self, version: str) -> None:
        self._version = version

    def Connect(self, _request, context):
        sent = dict(context.invocation_metadata()).get("authorization", "")
        if not sent:
            context.abort(grpc.StatusCode.UNAUTHENTICATED, "missing authorization in header")
        if sent != "YWRhOnNlY3JldA==":  # ada:secret
            reason = "auth check failure, please check username and password are correct"
            context.abort(grpc.StatusCode.UNAUTHENTICATED, reason)
        return messages.ConnectResponse(
            server_info=messages.common__pb2.ServerInfo(build_tags=self._version), identifier=1
        )

    def GetVersion(self, _request, _context):
        return messages.GetVersionResponse(version=self._version)

    def DescribeCollection(self, _request, context):
        context.abort(grpc.StatusCode.PERMISSION_DENIED, "PrivilegeLoad: permission deny to ada")


@contextlib.contextmanager
def listening(version: str):
    """The address of a server of that version."""
    server = grpc.server(ThreadPoolExecutor(2))
    services.add_MilvusServiceServicer_to_server(Server(version), server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        server.stop(0).wait()


def connect(address: str, token: str) -> Collection:
    return Collection(MilvusPlace(address, token, "cortex", "shop", 4))


@pytest.mark.parametrize("token", ["", "ada:wrong"])
def test_a_refused_token_is_not_reported_as_an_unreachable_server(token):
    with (
        listening("v2.6.1") as address,
        contextlib.closing(connect(address, token)) as collection,
        pytest.raises(Misconfigured, match=r"refuses the token of milvus\.token for shop") as raised,
    ):
        collection.count(collection.project)
    assert "wrong" not in str(raised.value)


def test_a_token_without_a_right_is_reported_with_the_missing_right():
    with (
        listening("v2.6.1") as address,
        contextlib.closing(connect(address, "ada:secret")) as collection,
        pytest.raises(Misconfigured, match="PrivilegeLoad: permission deny to ada"),
    ):
        collection.count(collection.project)


@pytest.mark.parametrize("version", ["v2.3.5-lite", "2.5.12"])
def test_a_server_that_is_too_old_is_reported_before_anything_is_created(version):
    with (
        listening(version) as address,
        contextlib.closing(connect(address, "ada:secret")) as collection,
        pytest.raises(Misconfigured, match=rf"is {version}, and Cortex needs 2\.6 or later"),
    ):
        collection.create_collections()


@pytest.mark.parametrize("version", ["v2.6.0", "v3.0.1", "master-20261101-1a2b3c4d"])
def test_a_server_of_a_later_or_unreadable_version_is_accepted(version):
    with (
        listening(version) as address,
        contextlib.closing(connect(address, "ada:secret")) as collection,
        pytest.raises(Misconfigured, match="permission deny"),
    ):
        collection.create_collections()


def test_an_address_where_nothing_listens_is_reported_as_unavailable():
    with listening("v2.6.0") as address:
        pass
    with (
        contextlib.closing(connect(address, "ada:secret")) as collection,
        pytest.raises(Unavailable, match=r"start it, or correct milvus\.uri"),
    ):
        collection.count(collection.project)


def test_a_server_that_refuses_without_a_message_is_reported_by_its_code(monkeypatch):
    def refuse(_self, _request, context):
        context.abort(grpc.StatusCode.UNIMPLEMENTED, "")

    monkeypatch.setattr(Server, "GetVersion", refuse)
    with (
        listening("v2.6.0") as address,
        contextlib.closing(connect(address, "ada:secret")) as collection,
        pytest.raises(Unavailable, match=r"it answers UNIMPLEMENTED\): start it, or correct milvus\.uri"),
    ):
        collection.count(collection.project)
