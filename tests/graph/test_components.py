"""Components and pages in the graph: imports and uses at their lines in the file, names of modules,
odd texts. Calls of a whole project: tests/golden/graph/components.
"""

from __future__ import annotations

import pytest

from cortex.graph.facts.modules import ScriptModules
from cortex.graph.languages.table import LANGUAGES
from cortex.graph.resolution.evaluation.evaluate import Evaluator
from cortex.graph.resolution.project import Project, Roots
from cortex.graph.resolution.resolve import edges_of
from cortex.terms.code.components import component_name, family_of
from tests.graph.small_graphs import facts_in, project_of

TOAST = "export function showToast() {}\nexport function fmt() {}\nexport class Store {}\n"


def uses(path, text, **others):
    """Return (kind, target, line, column) of the edges from a file to `toast.ts`."""
    texts = {"toast.ts": TOAST, path: text} | {name.replace("__", "."): more for name, more in others.items()}
    project = project_of(texts)
    return {
        (edge.type, edge.target.partition(":")[2] or edge.target, edge.location.line, edge.location.column)
        for edge in edges_of(project, Evaluator(project), path)
        if edge.target.startswith("toast")
    }


#: file and its text → an edge that it must have; `§` marks its place, column 0 for an import
PLACES = {
    "an import in a setup script": (
        "a.vue",
        "<template>\n<b/>\n</template>\n<script setup>\n§import { fmt } from './toast'\n</script>",
        ("imports", "fmt"),
    ),
    "a script in the first line": (
        "a.vue",
        "<script lang='ts'>import { fmt } from './toast'; const a: number = §fmt()</script>",
        ("calls", "fmt"),
    ),
    "letters of several bytes before it": (
        "a.vue",
        "<p>éé</p><script>import { fmt } from './toast'; §fmt()</script>",
        ("calls", "fmt"),
    ),
    "the second of two scripts": (
        "a.vue",
        "<script>\nimport { fmt } from './toast'\n</script>\n<script setup>\n§fmt()\n</script>",
        ("calls", "fmt"),
    ),
    "a script with a greater sign in its tag": (
        "a.vue",
        "<script setup lang='ts' generic='T extends Map<a, b>'>\n§import { fmt } from './toast'\n</script>",
        ("imports", "fmt"),
    ),
    "an interpolation": (
        "a.vue",
        "<template>\n<p>{{ §fmt(1) }}</p>\n</template>\n<script setup>\nimport { fmt } from './toast'\n</script>",
        ("calls", "fmt"),
    ),
    "a handler that is a name": (
        "a.vue",
        "<template><p @click='§fmt'/></template>\n<script setup>\nimport { fmt } from './toast'\n</script>",
        ("references", "fmt"),
    ),
    "a loop": (
        "a.vue",
        "<template><p v-for='(a, b) in §fmt()'/></template>\n<script setup>\nimport { fmt } from './toast'\n</script>",
        ("calls", "fmt"),
    ),
    "a module script of Svelte": (
        "a.svelte",
        "<script module lang='ts'>\n§import { fmt } from './toast'\n</script>",
        ("imports", "fmt"),
    ),
    "a block of Svelte": (
        "a.svelte",
        "<script>\nimport { fmt } from './toast'\n</script>\n{#each §fmt() as one, i (one.id)}\n{/each}",
        ("calls", "fmt"),
    ),
    "an else block of Svelte": (
        "a.svelte",
        "<script>\nimport { fmt } from './toast'\n</script>\n{#if a}{:else if §fmt()}{/if}",
        ("calls", "fmt"),
    ),
    "a promise in Svelte": (
        "a.svelte",
        "<script>\nimport { fmt } from './toast'\n</script>\n{#await §fmt() then it}{/await}",
        ("calls", "fmt"),
    ),
    "a constant of Svelte": (
        "a.svelte",
        "<script>\nimport { fmt } from './toast'\n</script>\n{#if a}{@const b = §fmt()}{/if}",
        ("calls", "fmt"),
    ),
    "an action of Svelte behind an apostrophe": (
        "a.svelte",
        "<script>\nimport { fmt } from './toast'\n</script>\n<p>don't</p><p use:§fmt={1} />",
        ("references", "fmt"),
    ),
    "the front matter of Astro": (
        "a.astro",
        "---\n§import { fmt } from './toast'\nconst a: number = 1\n---\n<p/>",
        ("imports", "fmt"),
    ),
    "an expression of Astro": (
        "a.astro",
        "---\nimport { fmt } from './toast'\n---\n<ul>{[1].map((a) => <li>don't {§fmt(a)}</li>)}</ul>",
        ("calls", "fmt"),
    ),
    "a script of Astro": (
        "a.astro",
        "<p/>\n<script>\n§import { fmt } from './toast'\n</script>",
        ("imports", "fmt"),
    ),
    "an import of MDX": ("a.mdx", "# A\n\n§import { fmt } from './toast'\n\ntext", ("imports", "fmt")),
    "an export of MDX over an empty line": (
        "a.mdx",
        "import { fmt } from './toast'\n\nexport const meta = {\n\n  a: §fmt(),\n}\n",
        ("calls", "fmt"),
    ),
    "an expression of MDX": (
        "a.mdx",
        "import { fmt } from './toast'\n\n## A {§fmt()}\n",
        ("calls", "fmt"),
    ),
    "a module script of a page": (
        "a.html",
        "<html>\n<script type='module'>\n§import { fmt } from './toast.js'\n</script></html>",
        ("imports", "fmt"),
    ),
    "scripts of a page on one line": (
        "a.html",
        "<script>var a = b()</script><script type=module>import { fmt } from './toast'; §fmt()</script>",
        ("calls", "fmt"),
    ),
}


@pytest.mark.parametrize("case", PLACES)
def test_a_use_has_its_place_in_the_file(case):
    path, text, (kind, name) = PLACES[case]
    before = text[: text.index("§")]
    line = before.count("\n") + 1
    column = len(before.rpartition("\n")[2].encode()) if kind != "imports" else 0
    assert (kind, name, line, column) in uses(path, text.replace("§", ""))


#: file and its text, which mentions `toast.ts` without a use of it
WITHOUT_USES = {
    "a comment": (
        "a.vue",
        "<!-- <script>import { fmt } from './toast'</script> -->\n<template><p/></template>",
    ),
    "data": ("a.vue", "<script type='application/json'>import { fmt } from './toast'</script>"),
    "a fence": ("a.mdx", "# A\n\n```js\nimport { fmt } from './toast'\nfmt()\n```\n"),
    "a sentence": ("a.mdx", "import the thing from './toast' and\nexport it\n"),
    "code in a line": ("a.mdx", "Use `import { fmt } from './toast'` and `{fmt()}`.\n"),
    "a style": ("a.svelte", "<style>\n a { import: './toast' }\n</style>"),
    "another language": ("a.vue", "<script lang='coffee'>\nimport { fmt } from './toast'\n</script>"),
}


@pytest.mark.parametrize("case", WITHOUT_USES)
def test_a_text_that_is_no_code_uses_nothing(case):
    assert uses(*WITHOUT_USES[case]) == set()


#: tag of a page → the imported file
LOADED = {
    '<script type="module" src="./toast.ts"></script>': "toast",
    '<script src="toast.js?v=2"></script>': "toast",
    '<script type="module" src="/toast.ts"></script>': "toast",
    '<script src="https://example.com/toast.js"></script>': "",
    '<script src="//example.com/toast.js"></script>': "",
    '<script src="{{ url }}/toast.js"></script>': "",
}


@pytest.mark.parametrize("tag", LOADED)
def test_a_page_imports_the_scripts_that_it_loads(tag):
    imports = uses("a.html", f"<html>\n{tag}\n</html>")
    assert imports == ({("imports", "toast", 2, 0)} if LOADED[tag] else set())


def test_a_page_without_scripts_is_not_in_the_graph():
    assert facts_in("a.html", "<p>text</p><script type='application/json'>{}</script>") is None


#: what a file says to import a component → the edges to the component
IMPORTING = {
    "its name": "import Card from './my-card.vue'",
    "its name without an ending": "import Card from './my-card'",
    "the loader's options": "import Card from './my-card.vue?async'",
    "another name": "import { default as Other } from './my-card.vue'",
    "an index": "import { Card } from './parts'",
    "a loader": "const Card = defineAsyncComponent(() => import('./my-card.vue'))",
    "a route": "export const routes = [{ path: '/', component: () => import('./my-card.vue') }]",
    "a function": "const Card = () => import('./my-card.vue')",
    "a part of a module": "const Card = lazy(() => import('./parts').then((m) => ({ default: m.Card })))",
}


@pytest.mark.parametrize("case", IMPORTING)
def test_a_component_has_the_users_of_its_default_export(case):
    project = project_of(
        {
            "my-card.vue": "<template><p/></template>",
            "parts/index.ts": "export { default as Card } from '../my-card.vue'\n",
            "main.ts": IMPORTING[case] + "\n",
        }
    )
    targets = {edge.target for edge in edges_of(project, Evaluator(project), "main.ts")}
    assert "my-card.vue:MyCard" in targets


def test_a_template_calls_its_components_also_by_names_with_hyphens():
    project = project_of(
        {
            "MyCard.vue": "<template><p/></template>",
            "a.vue": "<template>\n  <my-card/><MyCard/>\n</template>\n<script setup>\nimport MyCard from './MyCard.vue'\n</script>",
        }
    )
    calls = [edge for edge in edges_of(project, Evaluator(project), "a.vue") if edge.type == "calls"]
    assert [(edge.target, edge.location.line, edge.location.column) for edge in calls] == [
        ("MyCard.vue:MyCard", 2, 3),
        ("MyCard.vue:MyCard", 2, 13),
    ]


def test_a_template_calls_a_component_that_it_does_not_import_by_its_only_name():
    texts = {
        "parts/base-card.vue": "<template><p/></template>",
        "parts/base-card.story.vue": "<template><BaseCard/></template>",
        "parts/Box.vue": "<template><p/></template>",
        "old/Box.vue": "<template><p/></template>",
        "page.vue": "<template>\n<base-card/>\n<BaseCard/>\n<Box/>\n<RouterView/>\n</template>\n",
    }
    project = project_of(texts)
    calls = edges_of(project, Evaluator(project), "page.vue")
    assert [(edge.target, edge.location.line, edge.confidence) for edge in calls] == [
        ("parts/base-card.vue:BaseCard", 2, "name"),
        ("parts/base-card.vue:BaseCard", 3, "name"),
    ]
    assert "page.vue" in project.update({"old/Box.vue": None})
    assert "parts/Box.vue:Box" in {edge.target for edge in edges_of(project, Evaluator(project), "page.vue")}


def test_a_component_in_a_file_of_one_small_word_is_called():
    project = project_of(
        {
            "parts/toolbar.svelte": "<header>one</header>",
            "page.svelte": "<script>\nimport Toolbar from './parts/toolbar.svelte'\n</script>\n<Toolbar/>\n",
        }
    )
    calls = [edge for edge in edges_of(project, Evaluator(project), "page.svelte") if edge.type == "calls"]
    assert [(edge.target, edge.location.line) for edge in calls] == [("parts/toolbar.svelte:Toolbar", 4)]


def test_a_name_of_the_script_stays_with_the_script():
    project = project_of({"Card.vue": "<script>\nexport class Card {}\n</script>\n"})
    assert project.ids("Card.vue") == ["Card.vue:Card"]
    assert project.index("Card.vue").facts.definitions[0].kind == "class"


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("a/Card.vue", "Card"),
        ("a/my-card.vue", "MyCard"),
        ("a/card.svelte", "Card"),
        ("a/pages/card.vue", ""),
        ("a/card.mdx", ""),
        ("a/Card.client.vue", "Card"),
        ("a/Card.test.vue", ""),
        ("a/Card.story.vue", ""),
        ("a/index.vue", ""),
        ("a/+page.svelte", ""),
        ("a/[slug].astro", ""),
    ],
)
def test_a_component_has_the_name_of_its_file(path, name):
    assert component_name(path) == name


@pytest.mark.parametrize(
    ("path", "family"),
    [("a.vue", "script"), ("a.mdx", "script"), ("a.ts", "script"), ("a.py", "python"), ("a.md", "markdown")],
)
def test_unresolved_uses_in_components_count_for_scripts(path, family):
    assert family_of(path) == family


FILES = (
    "web/src/toast.ts",
    "web/src/Card.vue",
    "web/src/Card.ts",
    "web/src/lib/store.ts",
    "web/src/lib/index.ts",
    "web/ui/Box/index.vue",
    "web/public/old.js",
)


@pytest.mark.parametrize(
    ("module", "path"),
    [
        ("./Card.vue", "web/src/Card.vue"),
        ("./Card", "web/src/Card.ts"),
        ("../ui/Box", "web/ui/Box/index.vue"),
        ("@/Card.vue", "web/src/Card.vue"),
        ("/src/toast.ts", "web/src/toast.ts"),
        ("/old.js", "web/public/old.js"),
        ("./toast?raw", "web/src/toast.ts"),
        ("$lib/store", "web/src/lib/store.ts"),
        ("$lib", "web/src/lib/index.ts"),
        ("./Gone.vue", ""),
    ],
)
def test_components_are_found_as_scripts_are(module, path):
    aliases = Roots(aliases={"web": {"@/*": ("web/src/*",)}}).aliases
    assert ScriptModules(FILES, aliases, {}).find(module, "web/src/main.vue") == path


#: texts that only programs write
ODD = {
    "an empty component": ("a.vue", ""),
    "an empty import": ("a.mdx", "import {} from ''\n"),
    "scripts without an end": ("a.vue", "<script>\n" * 60_000),
    "tags without an end": ("a.vue", "<script '\n" * 60_000),
    "comments without an end": ("a.svelte", "<!--\n" * 120_000),
    "braces without an end": ("a.svelte", "{\n" * 200_000),
    "braces inside one another": ("a.astro", "{\n" * 20_000 + "}\n" * 20_000),
    "quotes in braces": ("a.svelte", "{" + ("'" * 9_999 + "\n" + '"' * 9_999 + "\n") * 9),
    "attributes without an end": ("a.vue", "<template>" + ' :a="\n' * 80_000),
    "hyphens of a name": ("a.vue", ("<a" + "-a" * 9_000 + "\n") * 9),
    "fences without an end": ("a.mdx", "```\n" * 60_001),
    "exports without an end": ("a.mdx", "export const a = {\n\n" * 30_000),
    "blocks of Svelte": ("a.svelte", "{#each " + " as \n" * 40_000 + "}"),
}


@pytest.mark.parametrize("case", ODD)
def test_an_odd_text_keeps_its_place_in_the_graph(case):
    path, text = ODD[case]
    packed = facts_in(path, text)
    assert packed is not None
    project = Project(LANGUAGES)
    project.update({path: packed})
    assert edges_of(project, Evaluator(project), path) == []
