(variable_declaration (builtin_function (builtin_identifier) @_import (#eq? @_import "@import"))) @import

(source_file (variable_declaration . (identifier) @name) @definition.variable)
(source_file (variable_declaration "const" . (identifier) @name
  [(integer) (float) (string) (multiline_string) (boolean) (binary_expression) (unary_expression)]) @definition.constant)
(function_declaration name: (identifier) @name body: (_)? @body) @definition.function
(variable_declaration . (identifier) @name (struct_declaration) @body) @definition.struct
(variable_declaration . (identifier) @name (opaque_declaration) @body) @definition.struct
(variable_declaration . (identifier) @name (union_declaration)) @definition.struct
(variable_declaration . (identifier) @name (enum_declaration)) @definition.enum
(variable_declaration . (identifier) @name (error_set_declaration)) @definition.enum
(test_declaration (string (string_content) @name) (block) @body) @definition.function

(comment) @comment

(source_file (_) @split
  (#set! statements "struct_declaration union_declaration enum_declaration block switch_expression"))
(struct_declaration (_) @split)
(union_declaration (_) @split)
(enum_declaration (_) @split)
(error_set_declaration (_) @split)
(block (_) @split)
(switch_expression (_) @split)
(initializer_list (_) @split)
(arguments (_) @split)
