(function_call name: (identifier) @_require (#match? @_require "^(require|dofile|loadfile)$")) @import

(function_declaration name: (identifier) @name body: (_)? @body) @definition.function
(function_declaration
  name: (dot_index_expression table: (_) @scope field: (identifier) @name)
  body: (_)? @body) @definition.function
(function_declaration
  name: (method_index_expression table: (_) @scope method: (identifier) @name)
  body: (_)? @body) @definition.method
(assignment_statement
  (variable_list . name: [(identifier) @name (dot_index_expression table: (_) @scope field: (identifier) @name)])
  (expression_list . value: (function_definition body: (_)? @body))) @definition.function
(field name: (identifier) @name value: (function_definition body: (_)? @body)) @definition.function

(chunk (variable_declaration (assignment_statement
  (variable_list . name: (identifier) @name)
  (expression_list . value: [(number) (string) (true) (false) (table_constructor) (binary_expression)]))) @definition.variable)
(chunk (assignment_statement
  (variable_list . name: [(identifier) @name (dot_index_expression table: (_) @scope field: (identifier) @name)])
  (expression_list . value: [(number) (string) (true) (false) (table_constructor) (binary_expression)])) @definition.variable)

(comment) @comment

(chunk (_) @split
  (#set! statements "block"))
(block (_) @split)
(if_statement [(elseif_statement) (else_statement)] @split)
(table_constructor (_) @split)
(arguments (_) @split)
