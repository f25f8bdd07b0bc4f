"""Cortex: a local context engine for coding agents.

Programs write `from cortex import Project`: the names of `__init__.pyi` are imported at first use.
"""

__version__ = "0.1.0"

#: name for programs → its module
_PUBLIC = {
    **dict.fromkeys(("AsyncProject", "Project"), "cortex.front.programs.code_library"),
    **dict.fromkeys(("Answer", "Hit", "Index", "Source", "Use"), "cortex.front.programs.code_results"),
    **dict.fromkeys(
        ("BadRequest", "CortexError", "Misconfigured", "NotFound", "TooLarge", "Unavailable"),
        "cortex.system.errors",
    ),
}


def __getattr__(name: str) -> object:
    """Import a name for programs: the import of `cortex` itself stays cheap."""
    if name not in _PUBLIC:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import importlib

    return getattr(importlib.import_module(_PUBLIC[name]), name)
