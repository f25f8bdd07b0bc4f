"""The files below docs/scale for containers and clusters: not run here, but parsed and compared
with the code and the charts.
"""

import re
from pathlib import Path

import orjson
import pytest
import yaml

from cortex.front.cli.commands import find

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "docs" / "scale"
#: keys of the charts in the versions that the values name, of the sections that we set
CHARTS = orjson.loads((Path(__file__).parent / "chart_keys.json").read_bytes())
#: values that a chart leaves to its user: a mapping of Kubernetes' own, or a list
FREE = re.compile(r"\.(resources|extraEnv)\.")
PINNED = re.compile(r"[\w./-]+:v?\w[\w.-]*\d[\w.-]*")


@pytest.fixture
def compose():
    return yaml.safe_load((FOLDER / "compose.yaml").read_text())


def test_services_networks_and_volumes_of_the_composition_are_defined(compose):
    services = compose["services"]
    for name, service in services.items():
        assert services.keys() >= set(service.get("depends_on", ())), name
        assert compose["networks"].keys() >= set(service.get("networks", ())), name
        volumes = [volume.split(":")[0] for volume in service.get("volumes", ())]
        assert compose["volumes"].keys() >= {volume for volume in volumes if re.fullmatch(r"\w+", volume)}, (
            name
        )
    assert set(compose["volumes"]) == {
        volume.split(":")[0]
        for service in services.values()
        for volume in service.get("volumes", ())
        if re.match(r"\w+:", volume)
    }


def test_every_image_has_one_version_and_ours_is_built_of_a_file_that_is_there(compose):
    for name, service in compose["services"].items():
        if "build" in service:
            build = service["build"]
            assert (FOLDER / build["context"] / build["dockerfile"]).resolve().is_file(), name
        else:
            assert PINNED.fullmatch(service["image"]), name
            assert not service["image"].endswith(":latest"), name


def test_only_the_server_is_reached_from_this_machine_alone_and_no_password_stands_in_the_file(compose):
    services = compose["services"]
    assert [name for name, service in services.items() if "ports" in service] == ["serve"]
    assert all(port.startswith("127.0.0.1:") for port in services["serve"]["ports"])
    assert compose["networks"]["inside"]["internal"]
    assert [name for name, service in services.items() if "outside" in service.get("networks", ())] == [
        "serve"
    ]
    for name, service in services.items():
        for variable, value in service.get("environment", {}).items():
            if re.search("PASSWORD|TOKEN|SECRET", variable):
                assert re.search(r"\$\{\w+(:\?[^}]+)?\}", value), (name, variable)


def test_settings_and_commands_of_the_composition_are_ours(compose):
    settings = set(re.findall(r"`(CORTEX_\w+)`", (ROOT / "docs" / "CONFIG.md").read_text())) | {
        "CORTEX_TOKEN"
    }
    for name in ("serve", "index"):
        service = compose["services"][name]
        assert service["environment"].keys() <= settings
        command, *arguments = service["command"]
        assert find(command).parser().read(arguments).project


@pytest.mark.parametrize("name", CHARTS)
def test_every_key_of_the_values_is_one_of_the_chart(name):
    text = (FOLDER / name).read_text()
    chart = CHARTS[name]
    program, version = chart[""].split()
    assert f"chart {program} {version} of" in text
    assert f"--version {version} " in text
    chart_keys = {f"{top}.{key}" for top, keys in chart.items() if top for key in keys} | set(chart)
    for key in keys_of(yaml.safe_load(text)):
        assert key in chart_keys or FREE.search(key), key


@pytest.mark.parametrize("name", CHARTS)
def test_values_hold_no_password_and_name_versions_of_images(name):
    values = yaml.safe_load((FOLDER / name).read_text())
    flat = dict(flatten(values))
    assert not [key for key in flat if re.search(r"(?i)password$|secretkey$|accesskey$", key)]
    assert [value for key, value in flat.items() if key.endswith("tag")]


def test_each_deployment_file_says_that_it_was_not_run_and_the_document_names_it():
    scale = (ROOT / "docs" / "SCALE.md").read_text()
    for path in FOLDER.iterdir():
        assert "Not run by us" in path.read_text(), path.name
        assert f"(scale/{path.name})" in scale


def keys_of(values, at=""):
    for key, value in values.items():
        name = f"{at}{key}"
        yield name
        if isinstance(value, dict):
            yield from keys_of(value, f"{name}.")


def flatten(values, at=""):
    for key, value in values.items():
        if isinstance(value, dict):
            yield from flatten(value, f"{at}{key}.")
        else:
            yield f"{at}{key}", value
