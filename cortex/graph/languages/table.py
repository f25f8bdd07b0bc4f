"""The languages of the graph by name. The only list of them."""

from __future__ import annotations

from collections.abc import Mapping

from cortex.graph.languages.c.language import CPP, C
from cortex.graph.languages.csharp.language import CSHARP
from cortex.graph.languages.go.language import GO
from cortex.graph.languages.java.language import JAVA
from cortex.graph.languages.kotlin.language import KOTLIN
from cortex.graph.languages.outlines import OUTLINES
from cortex.graph.languages.php.language import PHP
from cortex.graph.languages.python.language import PYTHON
from cortex.graph.languages.ruby.language import RUBY
from cortex.graph.languages.rust.language import RUST
from cortex.graph.languages.scala.language import SCALA
from cortex.graph.languages.scripts.language import JAVASCRIPT, TSX, TYPESCRIPT
from cortex.graph.languages.swift.language import SWIFT
from cortex.graph.resolution.language import Language

#: name → language, as `cortex.terms.languages` names it
LANGUAGES: Mapping[str, Language] = {
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
        *OUTLINES,
    )
}
