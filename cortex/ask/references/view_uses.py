"""Uses of a template by the name that code and other templates give it: `comments/comment` of
`app/views/comments/_comment.html.erb`, `pages.show` of `resources/views/pages/show.blade.php`.
"""

from __future__ import annotations

import re
from typing import Any

from cortex.ask.lines.current_lines import read_texts
from cortex.ask.query_context import Turn
from cortex.ask.references.use_sites import Site, Uses, cut, render
from cortex.ask.references.word_lines import NO_LINES, search_lines
from cortex.system.errors import Unavailable
from cortex.terms.paths import is_template

#: lines with a name that are read; templates that one name may mean
LINES_MAX, MEANT_MAX = 500, 3
#: a path, or names with dots between them: `pages.parts.list-item`
_NAME = re.compile(r"[`'\"]?([\w@-]+(?:[./][\w@-]+)+)[`'\"]?")
#: the folder that names of templates begin below
_ROOT = re.compile(r"(?:^|.*/)(?:views|templates|Views|Pages)/")
#: components, which code imports
_IMPORTED = (".vue", ".svelte", ".astro")
#: words of a line that shows a template of its own folder
_SHOWS = re.compile(r"\b(?:render|partial|include|extends|layout|template)\b")
#: a line of an action that answers in any case, where the action's own indentation is known
_ANSWERS = r"^{}(?:  |\t)(?:return )?(?:render|redirect_to|redirect_back|head|send_data|send_file)\b(?!.*\s(?:if|unless)\s)"
_QUOTE = "[\"'`]"


def view_name(path: str) -> str:
    """Return the name of a template below the folder of templates: `comments/comment`."""
    folder, slash, name = _ROOT.sub("", path).rpartition("/")
    return f"{folder}{slash}{name.partition('.')[0].lstrip('_')}"


async def list_view_uses(turn: Turn, symbol: str, offset: int, max_bytes: int) -> dict[str, Any] | None:
    """Return the lines that name a template as `sites`; None for another symbol. Raises
    NotReady.
    """
    match = _NAME.fullmatch(symbol.strip())
    if match is None:
        return None
    files = _files_meant(turn, match[1])
    if not 0 < len(files) <= MEANT_MAX:
        return None
    room = max_bytes // len(files)
    return {"sites": [await _list_uses(turn, path, offset, room) for path in files]}


def _files_meant(turn: Turn, written: str) -> list[str]:
    """Return the templates that a path, its end, or the name of a template means."""
    templates = [
        path for path in turn.context.freshness.listed() if is_template(path) and not path.endswith(_IMPORTED)
    ]
    ending = f"/{written}"
    if files := [path for path in templates if f"/{path}".endswith(ending)]:
        return sorted(files)
    name = written if "/" in written else written.replace(".", "/")
    return sorted(path for path in templates if view_name(path) == name)


async def _action_of(turn: Turn, path: str, folder: str, name: str) -> Site | None:
    """Return the action of Rails that shows a template because it shows nothing else: `def index`
    of the folder's controller, without a `render`.
    """
    root, views, below = path.rpartition("/views/")
    controller = f"{root}/controllers/{folder}_controller.rb"
    if not views or not folder or below.rpartition("/")[2].startswith("_"):
        return None
    if controller not in turn.context.freshness.listed():
        return None
    try:
        text = (await read_texts(turn, [controller])).get(controller, "")
    except Unavailable:
        return None
    action = re.search(rf"^([ \t]*)def {re.escape(name)}\b.*(?:\n(?!\1end\b).*)*", text, re.MULTILINE)
    if action is None or re.search(_ANSWERS.format(action[1]), action[0], re.MULTILINE):
        return None
    return Site(controller, text.count("\n", 0, action.start()) + 1, "", cut(action[0].partition("\n")[0]))


async def _list_uses(turn: Turn, path: str, offset: int, max_bytes: int) -> dict[str, Any]:
    """Return the block of one template: lines with its name in quotes, and those with the last part
    of it that show it in its own folder.
    """
    name = view_name(path)
    folder, _, last = name.rpartition("/")
    spelled = "[./]".join(map(re.escape, name.split("/")))
    short = f"|{_QUOTE}{re.escape(last)}{_QUOTE}" if folder else ""
    written = rf"{_QUOTE}(?:[\w./-]*(?:::|/))?{spelled}(?:\.[\w.]+)?{_QUOTE}"
    holding = await search_lines(turn, written + short, LINES_MAX) or NO_LINES
    full = re.compile(written)
    own_folder, controller = f"{path.rpartition('/')[0]}/", f"/{folder}_controller.rb"
    sites = [
        Site(*place, "", cut(line.text))
        for place, line in holding.lines.items()
        if full.search(line.text)
        or ((place[0].startswith(own_folder) or place[0].endswith(controller)) and _SHOWS.search(line.text))
    ]
    if (action := await _action_of(turn, path, folder, last)) is not None:
        sites = [*(site for site in sites if site.place != action.place), action]
    usage = Uses(sorted(sites, key=lambda site: site.order), textual=True, truncated=holding.truncated)
    return render(usage, offset, max_bytes, {"of": name, "at": f"{path}:1", "direction": "callers"})
