"""Files of components (Vue, Svelte, Astro, MDX) and HTML pages, which hold scripts: names and
families. Pure.
"""

import re

from cortex.terms import languages

#: a file with one of these endings is a component: an import of it means its default export
COMPONENT_ENDINGS = (".vue", ".svelte", ".astro", ".mdx")
PAGE_ENDINGS = (".html", ".htm")
#: stems of components that have the name of their folder, or no name
_NAMELESS = frozenset({"index"})
#: language of their scripts, unless these say otherwise
_SCRIPT = "javascript"
_NAME = re.compile(r"[A-Za-z_$][\w$]*")
#: a file about a component: `Card.story.vue`, `Card.test.vue`; not `Card.client.vue` of Nuxt
_STORY_OR_TEST = re.compile(r"\.(?:test|spec|story|stories|mock|cy)\.\w+$")
#: endings of components alone: MDX and Astro are pages as often
_COMPONENTS_ALONE = (".vue", ".svelte")
#: folders of pages, which no template names
_PAGE_FOLDERS = frozenset(("pages", "layouts", "routes"))


def is_component(path: str) -> bool:
    """Return True for a component, a file with an export of its own."""
    return path.endswith(COMPONENT_ENDINGS)


def may_hold_scripts(path: str) -> bool:
    """Return True for a component or an HTML page."""
    return path.endswith((*COMPONENT_ENDINGS, *PAGE_ENDINGS))


def family_of(path: str) -> str:
    """Return the family of languages that can call one another, for a file of the graph."""
    return languages.family_of(_SCRIPT if may_hold_scripts(path) else languages.language_of(path).name)


def component_name(path: str) -> str:
    """Return a component's name: `MyCard` of `my-card.vue`, `Card` of `card.svelte`; "" for a page,
    an index file, and a story or test of a component.
    """
    *folders, file = path.split("/")
    if _STORY_OR_TEST.search(file):
        return ""
    stem = file.partition(".")[0]
    name = pascal(stem)
    if file.endswith(_COMPONENTS_ALONE) and _PAGE_FOLDERS.isdisjoint(folders):
        name = name[:1].upper() + name[1:]
    return name if stem not in _NAMELESS and _NAME.fullmatch(name) and name[0].isupper() else ""


def pascal(name: str) -> str:
    """Return `MyCard` for `my-card`; a name without hyphens as it is."""
    return "".join(part[:1].upper() + part[1:] for part in name.split("-")) if "-" in name else name
