import pytest

pytestmark = pytest.mark.usefixtures("logged")


@pytest.fixture
def logged():
    return 1


@pytest.mark.usefixtures("app", "unknown")
class TestMarked:
    @pytest.mark.parametrize("client, size", [(1, 2)], indirect=["client"])
    @pytest.mark.usefixtures("logged")
    def test_indirect(self, client, size):
        return client


@pytest.mark.parametrize("app", [1], indirect=True)
def test_all_indirect(app):
    return app


@pytest.mark.parametrize(("app", "size"), [(1, 2)])
def test_values_in_place_of_a_fixture(app, client, size):
    return app


def test_a_mark_in_the_body(request):
    request.applymarker(pytest.mark.usefixtures("client"))
