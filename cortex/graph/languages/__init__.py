"""The languages of the graph: a folder for each, and the table of them, which a Project gets.

`facts/`, `sweep/` and `resolution/` name no language. A folder has `language.py` with one or more
`Language` objects, the queries `<name>.scm` and `values/<name>.scm`, lists of the library's names
`<list>.txt`, and modules of its own. A `Language` consists of

* `syntax` (facts/grammars.py): node types of expressions, the package with the queries, readers of
  arguments, parameters, imports and packages;
* `rules` (facts/grammars.py): rows of data, such as the words for a receiver and the scopes that
  are visible without an import;
* steps (resolution/language.py): ordered functions for the call of a bare name (`bare_call`), a
  call on a receiver (`member_call`, `called_member_values`), a call by name (`methods_by_name`),
  and a member that a type lacks (`missing_member`). A step changes the callee, or returns edges
  and ends the call;
* hooks (resolution/language.py): single functions for modules, imports, chains, extensions and
  overloads. Their defaults do nothing.

Steps of a call are those of the caller's file, steps of a member those of the value's file: a
project may mix Java, Kotlin and Scala. steps.py and defaults.py have functions that several
languages share. A new language is a folder, and a line in table.py.
"""
