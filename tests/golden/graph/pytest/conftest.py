import pytest

from shop.app import App, opened


@pytest.fixture
def app():
    with opened() as one:
        yield one


@pytest.fixture
def client(app):
    return app.client()


def plain():
    return App()
