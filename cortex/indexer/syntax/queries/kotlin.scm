(package_header (qualified_identifier) @package)
(import) @import

(class_declaration name: (identifier) @name (class_body)? @body) @definition.class
(class_declaration "interface" name: (identifier) @name (class_body)? @body) @definition.interface
(class_declaration
  (modifiers (class_modifier) @_enum)
  name: (identifier) @name
  (#eq? @_enum "enum")) @definition.enum
(object_declaration name: (identifier) @name (class_body)? @body) @definition.class
(function_declaration name: (identifier) @name (function_body)? @body) @definition.function
(property_declaration (variable_declaration (identifier) @name) (getter) @body) @definition.method
(type_alias type: (identifier) @name) @definition.type
(source_file (property_declaration (variable_declaration (identifier) @name)) @definition.variable)
(object_declaration (class_body (property_declaration (variable_declaration (identifier) @name)) @definition.variable))
(companion_object (class_body (property_declaration (variable_declaration (identifier) @name)) @definition.variable))

(line_comment) @comment
(block_comment) @comment

(source_file (_) @split
  (#set! statements "class_body enum_class_body block lambda_literal when_expression"))
(class_body (_) @split)
(enum_class_body (_) @split)
(block (_) @split)
(lambda_literal (_) @split)
(when_expression (_) @split)
(class_parameters (_) @split)
(value_arguments (_) @split)
