"""The languages of the graph by name: those with rules, and all others with definitions."""

from collections.abc import Mapping

from cortex.graph.facts.grammars import Rules
from cortex.graph.languages.c.language import CPP, C
from cortex.graph.languages.csharp.language import CSHARP
from cortex.graph.languages.go.language import GO
from cortex.graph.languages.java.language import JAVA
from cortex.graph.languages.kotlin.language import KOTLIN
from cortex.graph.languages.php.language import PHP
from cortex.graph.languages.python.language import PYTHON
from cortex.graph.languages.ruby.language import RUBY
from cortex.graph.languages.rust.language import RUST
from cortex.graph.languages.scala.language import SCALA
from cortex.graph.languages.scripts.language import JAVASCRIPT, TSX, TYPESCRIPT
from cortex.graph.languages.swift.language import SWIFT
from cortex.graph.resolution.language import Language
from cortex.terms.languages import PARSED, family_of

_RESOLVED = {
    language.name: language
    for language in (
        PYTHON,
        GO,
        TYPESCRIPT,
        TSX,
        JAVASCRIPT,
        JAVA,
        KOTLIN,
        SCALA,
        RUST,
        C,
        CPP,
        CSHARP,
        PHP,
        SWIFT,
        RUBY,
    )
}
#: languages with definitions only: they are nodes, and nothing is resolved
_OUTLINED = {
    row.name: Language(
        row.name,
        rules=Rules(family_of(row.name), row.suffixes[:1], self_names=frozenset(), super_names=frozenset()),
    )
    for row in PARSED
    if row.kind == "code" and row.nodes and row.name not in _RESOLVED
}
#: name → language, as `cortex.terms.languages` names it
LANGUAGES: Mapping[str, Language] = _RESOLVED | _OUTLINED
