"""Readable parts of mangled names: Itanium C++ and both schemes of Rust. Pure.

Not a full demangler: arguments, templates and back-references are left out.
"""

import re

#: largest number of parts of one name
PARTS_MAX = 32

_LENGTH = re.compile(r"\d{1,4}")
_RUST_HASH = re.compile(r"h[0-9a-f]{16}")
_ESCAPED = re.compile(r"\$(?:[A-Z]{2}|u[0-9a-f]{1,6}|C)\$")
#: `<X as Y>` and `<impl Y for X>`
_RUST_OWNER = re.compile(r"_\$LT\$(?:impl\$u20\$[\w.]+\$u20\$for\$u20\$)?([A-Za-z][\w.]*)")
#: std's short forms in Itanium names
_SHORT = {"St": "std", "Sa": "allocator", "Ss": "string"}
_RUST_ROOT = re.compile(r"s?[0-9A-Za-z]*_")


def demangle(text: str) -> str:
    """Return `Store.save` for `_ZN5Store4saveEv`; "" if it is no mangled name."""
    text = text.strip().removeprefix("_") if text.strip().startswith("__") else text.strip()
    if re.match(r"_Z[NKStL\d]", text):
        parts = _itanium(text[2:])
    elif re.match(r"_R[A-Z]", text):
        parts = _rust(text[2:])
    else:
        return ""
    return ".".join(piece for piece in parts if piece)


def _itanium(text: str) -> list[str]:
    """Parse `N`, then parts with their lengths, up to `E`; or a single part outside of scopes."""
    nested = text.startswith("N")
    at = len(re.match(r"N?[rVKRO]*L?", text)[0])  # type: ignore[index]
    parts: list[str] = []
    while at < len(text) and len(parts) < PARTS_MAX:
        if match := _LENGTH.match(text, at):
            end = match.end() + int(match[0])
            parts.append(_rust_part(text[match.end() : end]))
            at = end
            if not nested:
                break
        elif text[at : at + 2] in _SHORT:
            parts.append(_SHORT[text[at : at + 2]])
            at += 2
        elif text[at] == "I":
            at = _behind_template(text, at)
        elif text[at] in "CD" and text[at + 1 : at + 2].isdigit():
            parts += parts[-1:]  # a constructor has the name of its class
            at += 2
        else:
            break
    return parts[:-1] if parts and _RUST_HASH.fullmatch(parts[-1]) else parts


def _behind_template(text: str, at: int) -> int:
    """Return the offset behind the arguments that begin with the `I` at `at`."""
    depth = 0
    while at < len(text):
        if match := _LENGTH.match(text, at):
            at = match.end() + int(match[0])
            continue
        depth += (text[at] in "INX") - (text[at] == "E")
        at += 1
        if not depth:
            break
    return at


def _rust_part(segment: str) -> str:
    """Return a part of a legacy Rust name: for `<X as Y>` the X, "" for a closure."""
    if owner := _RUST_OWNER.match(segment):
        return owner[1].rpartition(".")[2]
    return "" if _ESCAPED.search(segment) else segment.replace("..", ".")


def _rust(text: str) -> list[str]:
    """Return the identifiers of a v0 name, up to its arguments."""
    parts: list[str] = []
    at = 0
    while at < len(text) and len(parts) < PARTS_MAX:
        if text[at] in "BsC" and (match := _RUST_ROOT.match(text, at + 1)) and text[at] != "C":
            at = match.end()
        elif match := _LENGTH.match(text, at):
            begin = match.end() + (text[match.end() : match.end() + 1] == "_")
            at = begin + int(match[0])
            parts.append(text[begin:at])
        elif text[at] in "IE":
            break
        else:
            at += 1
    return parts
