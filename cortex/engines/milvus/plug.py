"""The parts of the engine that are read outside its folder (`cortex.settings.plug`). Imports no
library of the engine.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from cortex.engines.milvus.place import _KEY_CHARS, FILE_ENDING, SCHEMES, Milvus, milvus_place, project_of
from cortex.generation.current import Generation
from cortex.settings.config import Config
from cortex.settings.folders.home import is_loopback
from cortex.settings.plug import Plug
from cortex.system.errors import Misconfigured


class MilvusStore:
    """See `cortex.settings.plug.Store`."""

    title = "Milvus"

    def check(self, config: Config) -> None:
        if not config.plug_settings.uri:
            raise Misconfigured(
                "engines.text is milvus, and milvus.uri is empty: set it to a server, http://host:19530, or to a "
                "file of milvus-lite, ~/.cortex/milvus.db."
            )

    def project(self, config: Config) -> str:
        return project_of(config)

    def key(self, config: Config) -> str:
        settings: Milvus = config.plug_settings
        identity = "\0".join((settings.uri, settings.collection, project_of(config)))
        return hashlib.sha256(os.fsencode(identity)).hexdigest()[:_KEY_CHARS]

    def group(self, config: Config) -> tuple[object, ...]:
        place = milvus_place(config)
        return (place.address, place.token, place.collection, place.dimensions)

    def address(self, config: Config) -> str:
        return str(config.plug_settings.uri)

    def egress(self, config: Config) -> str:
        uri = self.address(config)
        if not uri.startswith(SCHEMES) or is_loopback(uri):
            return ""
        return (
            f"The index is kept in Milvus at {uri} (milvus.uri): questions are sent there, and `cortex index --to milvus` "
            "sends the text of this project's files; of secrets in it, those of known formats are masked."
        )

    def explain_nothing(self, config: Config) -> str:
        place = milvus_place(config)
        return (
            f"Nothing of the project {place.project} has come from Milvus at {place.label} yet; ask again in a few "
            "seconds, or see `cortex status`."
        )

    def worker(self, config: Config) -> str:
        return "workers.milvus" if self.address(config).endswith(FILE_ENDING) else ""

    @contextlib.contextmanager
    def writing(self, config: Config) -> Iterator[Callable[[], Generation]]:
        from cortex.engines.milvus.publishing.lite import file_served
        from cortex.engines.milvus.publishing.publisher import writing

        with file_served(config), writing(config) as publish:
            yield publish

    def mirror(self, config: Config) -> Any:
        from cortex.engines.milvus.publishing.mirror import MirrorWorker

        return MirrorWorker(config)

    def joint_handlers(
        self, config: Config, prepare: Callable[[Any], Any] = lambda message: message
    ) -> Mapping[type, Callable[[Any], Any]]:
        from cortex.engines.milvus.multi_project import MultiProjectHandler

        return MultiProjectHandler(config, prepare).handlers

    def sources(self, config: Config, local: Any) -> Callable[[Any], Any]:
        from cortex.engines.milvus.sources import source_opener

        return source_opener(config, local)


PLUG = Plug(
    name="milvus", engine="cortex.engines.milvus.engine:MilvusEngine", section=Milvus, store=MilvusStore()
)
