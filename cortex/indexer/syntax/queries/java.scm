(package_declaration [(scoped_identifier) (identifier)] @package)
(import_declaration) @import

(class_declaration name: (identifier) @name body: (_) @body) @definition.class
(record_declaration name: (identifier) @name body: (_) @body) @definition.class
(interface_declaration name: (identifier) @name body: (_) @body) @definition.interface
(annotation_type_declaration name: (identifier) @name body: (_) @body) @definition.interface
(enum_declaration name: (identifier) @name) @definition.enum
(method_declaration name: (identifier) @name body: (_)? @body) @definition.method
(constructor_declaration name: (identifier) @name body: (_) @body) @definition.method
(compact_constructor_declaration name: (identifier) @name body: (_) @body) @definition.method
(field_declaration
  (modifiers) @modifiers
  declarator: (variable_declarator name: (identifier) @name value: (_))
  (#match? @modifiers "static")) @definition.constant
(constant_declaration declarator: (variable_declarator name: (identifier) @name)) @definition.constant

(line_comment) @comment
(block_comment) @comment

(program (_) @split
  (#set! statements "class_body interface_body enum_body enum_body_declarations annotation_type_body constructor_body block switch_block switch_block_statement_group"))
(class_body (_) @split)
(interface_body (_) @split)
(enum_body (_) @split)
(enum_body_declarations (_) @split)
(annotation_type_body (_) @split)
(constructor_body (_) @split)
(block (_) @split)
(switch_block (_) @split)
(switch_block_statement_group (_) @split)
(array_initializer (_) @split)
(argument_list (_) @split)
