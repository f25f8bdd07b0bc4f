"""The parts of the engine that are read outside its folder (`cortex.settings.plug`). Imports no
library of the engine.
"""

import contextlib
import hashlib
import os
from collections.abc import Callable, Iterator

from cortex.engines.milvus.place import FILE_ENDING, KEY_CHARS, SCHEMES, Milvus, milvus_place, project_of
from cortex.generation.current import Generation
from cortex.settings.config import Config
from cortex.settings.folders.home import is_loopback
from cortex.settings.plug import Plug, Store, late
from cortex.system.errors import Misconfigured


def _check(config: Config) -> None:
    if not config.plug_settings.uri:
        raise Misconfigured(
            "engines.text is milvus, and milvus.uri is empty: set it to a server, http://host:19530, or to a "
            "file of milvus-lite, ~/.cortex/milvus.db."
        )


def _key(config: Config) -> str:
    settings: Milvus = config.plug_settings
    identity = "\0".join((settings.uri, settings.collection, project_of(config)))
    return hashlib.sha256(os.fsencode(identity)).hexdigest()[:KEY_CHARS]


def _group(config: Config) -> tuple[object, ...]:
    place = milvus_place(config)
    return (place.address, place.token, place.collection, place.dimensions)


def _address(config: Config) -> str:
    return str(config.plug_settings.uri)


def _egress(config: Config) -> str:
    uri = _address(config)
    if not uri.startswith(SCHEMES) or is_loopback(uri):
        return ""
    return (
        f"The index is kept in Milvus at {uri} (milvus.uri): questions are sent there, and `cortex index --to milvus` "
        "sends the text of this project's files; of secrets in it, those of known formats are masked."
    )


def _explain_nothing(config: Config) -> str:
    place = milvus_place(config)
    return (
        f"Nothing of the project {place.project} has come from Milvus at {place.label} yet; ask again in a few "
        "seconds, or see `cortex status`."
    )


def _worker(config: Config) -> str:
    return "workers.milvus" if _address(config).endswith(FILE_ENDING) else ""


@contextlib.contextmanager
def _writing(config: Config) -> Iterator[Callable[[], Generation]]:
    from cortex.engines.milvus.publishing.lite import file_served
    from cortex.engines.milvus.publishing.publisher import writing

    with file_served(config), writing(config) as publish:
        yield publish


STORE = Store(
    title="Milvus",
    check=_check,
    project=project_of,
    key=_key,
    group=_group,
    address=_address,
    egress=_egress,
    explain_nothing=_explain_nothing,
    worker=_worker,
    writing=_writing,
    mirror=late("cortex.engines.milvus.publishing.mirror:MirrorWorker"),
    joint=late("cortex.engines.milvus.multi_project:MultiProjectHandler"),
    sources=late("cortex.engines.milvus.sources:source_opener"),
)
PLUG = Plug(name="milvus", engine="cortex.engines.milvus.engine:MilvusEngine", section=Milvus, store=STORE)
