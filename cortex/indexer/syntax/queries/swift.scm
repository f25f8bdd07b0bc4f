; `(_ "func" …)`: tree-sitter takes 300 ms in each process to compute the possible children of
; `function_declaration`; for a parent of any kind it takes no time.
(import_declaration) @import

(class_declaration "class" name: (type_identifier) @name body: (_) @body) @definition.class
(class_declaration "actor" name: (type_identifier) @name body: (_) @body) @definition.class
(class_declaration "struct" name: (type_identifier) @name body: (_) @body) @definition.struct
(class_declaration "enum" name: (type_identifier) @name) @definition.enum
(class_declaration "extension" name: (_) @name body: (_)) @container
(protocol_declaration name: (type_identifier) @name body: (_) @body) @definition.interface
(typealias_declaration name: (type_identifier) @name) @definition.type
(_ "func" . name: (simple_identifier) @name body: (_)? @body) @definition.function
(protocol_function_declaration name: (simple_identifier) @name) @definition.method
(init_declaration "init" @name body: (_)? @body) @definition.method
(deinit_declaration "deinit" @name body: (_)? @body) @definition.method
(subscript_declaration "subscript" @name) @definition.method
(macro_declaration (simple_identifier) @name) @definition.macro
(property_declaration name: (_ bound_identifier: (simple_identifier) @name)
  computed_value: (_) @body) @definition.method
(source_file (_
  name: (pattern bound_identifier: (simple_identifier) @name) value: (_)) @definition.variable)
(_ (modifiers (property_modifier) @_static)
  name: (_ bound_identifier: (simple_identifier) @name) value: (_)
  (#eq? @_static "static")) @definition.constant

(comment) @comment
(multiline_comment) @comment

(source_file (_) @split
  (#set! statements "class_body enum_class_body protocol_body statements switch_statement"))
(class_body (_) @split)
(enum_class_body (_) @split)
(protocol_body (_) @split)
(statements (_) @split)
(switch_entry) @split
(array_literal (_) @split)
(value_arguments (_) @split)
