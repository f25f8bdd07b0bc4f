(class_definition name: (identifier) @name body: (_) @body) @definition.class
(class_definition
  name: (identifier) @name
  superclasses: (argument_list [(identifier) (attribute)] @base)
  (#match? @base "(Enum|Flag)$")) @definition.enum
(function_definition name: (identifier) @name body: (_) @body) @definition.function
(type_alias_statement left: (type (identifier) @name)) @definition.type

(module (expression_statement (assignment left: (identifier) @name)) @definition.variable)
(module (expression_statement (assignment left: (pattern_list (identifier) @name))) @definition.variable)

(import_statement) @import
(import_from_statement) @import

(comment) @comment
(module . (comment)* . (expression_statement . (string) @doc .))
(class_definition body: (block . (expression_statement . (string) @doc .)))
(function_definition body: (block . (expression_statement . (string) @doc .)))

(module (_) @split
  (#set! statements "block"))
(block (_) @split)
(dictionary (_) @split)
(list (_) @split)
(set (_) @split)
(tuple (_) @split)
(argument_list (_) @split)
(if_statement alternative: (_) @split)
(try_statement [(except_clause) (finally_clause) (else_clause)] @split)
(match_statement body: (block (_) @split))
