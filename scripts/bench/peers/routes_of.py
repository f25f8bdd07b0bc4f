"""Print the routes of a Flask, FastAPI or Django application as JSON lines, by running it.

    cd FOLDER-OF-THE-PACKAGES; python routes_of.py ROOT MODULE[:NAME] [ABSENT …]

NAME is the application or a function that makes it; Django needs its settings' MODULE alone.
ABSENT: modules that get a stub. Handlers of files outside ROOT are left out.
"""

import importlib
import inspect
import json
import os
import re
import sys
from unittest.mock import MagicMock


def show(methods, path, view, cls=None, name=None):
    plain = inspect.unwrap(getattr(view, "func", view))
    for function in (getattr(cls, name or "", None), cls) if cls else (plain,):
        file = getattr(sys.modules.get(getattr(function, "__module__", None)), "__file__", None)
        file = os.path.relpath(file or "/", root)
        if function is not None and not file.startswith("..") and "site-packages" not in file:
            member = f".{name}" if function is cls and name else ""
            handler = f"{file[:-3]}:{function.__qualname__}{member}".replace("<locals>.", "")
            for method in sorted(set(methods) - {"HEAD", "OPTIONS"}):
                print(json.dumps({"method": method.upper(), "path": path, "handler": handler}), file=lines)


def of_flask(app):
    for rule in app.url_map.iter_rules():
        view = app.view_functions[rule.endpoint]
        for method in rule.methods:
            show([method], str(rule), view, getattr(view, "view_class", None), method.lower())


def of_fastapi(routes, prefix=""):
    for route in routes:
        of_fastapi(getattr(route, "effective_candidates", list)(), prefix)
        if endpoint := getattr(route, "endpoint", None):
            show(getattr(route, "methods", None) or ["WEBSOCKET"], prefix + route.path, endpoint)
        elif mounted := getattr(route, "routes", None):
            of_fastapi(mounted, prefix + route.path)


def of_django(patterns, prefix=""):
    for entry in patterns:
        path = re.sub(r"\(\?P(<\w+>)(?:[^()]|\([^()]*\))*\)", r"\1", str(entry.pattern))
        path = prefix + re.sub(r"^\^|\$$|\\Z|\\(?=\W)", "", path)
        view = getattr(entry, "callback", None)
        cls = getattr(view, "cls", None) or getattr(view, "view_class", None)
        methods = [name for name in getattr(cls, "http_method_names", ()) if hasattr(cls, name)]
        if view is None:
            of_django(entry.url_patterns, path)
        elif "format>" not in path:  # Django REST framework adds all routes with a suffix once more
            actions = getattr(view, "actions", None) or {name: name for name in methods} or {"ANY": None}
            for method, action in actions.items():
                show([method.upper()], path, view, cls, action)


root, target, *absent = sys.argv[1:]
lines, sys.stdout = sys.stdout, sys.stderr  # applications print while they start
sys.path.insert(0, os.getcwd())
sys.modules |= {name: MagicMock() for name in absent}
module, _, name = target.partition(":")
if name:
    app = getattr(importlib.import_module(module), name)
    app = app() if inspect.isfunction(app) else app
    of_flask(app) if hasattr(app, "url_map") else of_fastapi(app.routes)
else:
    os.environ["DJANGO_SETTINGS_MODULE"] = module
    importlib.import_module("django").setup()
    of_django(importlib.import_module("django.urls").get_resolver().url_patterns)
lines.flush()
os._exit(0)  # threads of the application go on
