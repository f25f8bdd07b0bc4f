"""JavaScript with a declaration file for its types, as packages ship them."""

import json

from cortex.graph.languages.table import LANGUAGES
from cortex.graph.resolution.evaluation.evaluate import Evaluator
from cortex.graph.resolution.project import Project
from cortex.graph.resolution.resolve import edges_of
from cortex.indexer.store.graph_facts import facts_of
from cortex.indexer.store.graph_roots import read_roots
from cortex.indexer.syntax.source import decode, digest


def calls(root, files, path):
    """Return (line, target) of the calls in one file of a project."""
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    facts = {
        name: facts_of(decode(name, text.encode()), digest(text.encode()))
        for name, text in files.items()
        if not name.endswith(".json")
    }
    project = Project(LANGUAGES, read_roots(str(root), facts))
    project.update(facts)
    edges = edges_of(project, Evaluator(project), path)
    return {(edge.location.line, edge.target) for edge in edges if edge.type == "calls"}


MAKER = "export default function make() {\n  return Object.create(proto);\n}\n"
TYPES = "export interface Disk { save(): void }\nexport default function make(): Disk;\n"


def test_a_scripts_result_has_the_members_of_its_declaration_file(tmp_path):
    files = {
        "lib/make.js": MAKER,
        "lib/make.d.ts": TYPES,
        "test/a.js": "import make from '../lib/make.js';\nconst disk = make();\ndisk.save();\n",
    }
    assert calls(tmp_path, files, "test/a.js") == {
        (2, "lib/make:make"),
        (2, "lib/make.d:make"),
        (3, "lib/make.d:Disk.save"),
    }


def test_a_folder_import_means_the_main_file_of_its_package(tmp_path):
    files = {
        "package.json": json.dumps({"name": "shop", "main": "shop.js", "types": "shop.d.ts"}),
        "shop.js": "function shop() { return build() }\nmodule.exports = shop\n",
        "shop.d.ts": (
            "declare namespace shop {\n  interface Open { close(): void }\n}\ndeclare function shop(): shop.Open;\nexport = shop\n"
        ),
        "test/a.js": "const shop = require('..')\nconst open = shop()\nopen.close()\n",
    }
    assert calls(tmp_path, files, "test/a.js") == {
        (2, "shop:shop"),
        (2, "shop.d:shop~2"),
        (3, "shop.d:shop.Open.close"),
    }


def test_a_stub_adds_names_that_its_python_module_lacks(tmp_path):
    files = {
        "app/__init__.py": "",
        "app/op.py": "install(globals())\ndef own(): pass\n",
        "app/op.pyi": "from .disk import Disk\ndef save(x: int) -> Disk: ...\ndef own() -> None: ...\n",
        "app/disk.py": "class Disk:\n    def flush(self): ...\n",
        "main.py": "from app import op\nfrom app.op import save\nop.save(1).flush()\nop.own()\nsave(2)\n",
    }
    assert calls(tmp_path, files, "main.py") == {
        (3, "app/op.pyi:save"),
        (3, "app/disk:Disk.flush"),
        (4, "app/op:own"),
        (5, "app/op.pyi:save"),
    }
