import pytest

from shop.app import Client


class TestApp:
    @pytest.fixture
    def client(self, client):
        return client

    def test_get(self, client, app, plain, other=1):
        client.get()
        app.handle()
        plain.handle_all()


def test_client(client: Client):
    client.get()


def helper(app):
    app.unheard()
