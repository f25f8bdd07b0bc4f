(package_clause name: (_) @package)
(import_declaration) @import

(class_definition name: (_) @name body: (_)? @body) @definition.class
(object_definition name: (_) @name body: (_)? @body) @definition.class
(package_object name: (_) @name body: (_)? @body) @definition.module
(trait_definition name: (_) @name body: (_)? @body) @definition.trait
(enum_definition name: (_) @name) @definition.enum
(type_definition name: (_) @name) @definition.type
(function_definition name: (_) @name body: (_)? @body) @definition.function
(function_declaration name: (_) @name) @definition.function
(given_definition name: (_) @name body: (_)? @body) @definition.function

(compilation_unit (val_definition pattern: (identifier) @name) @definition.constant)
; `(_ …)`: only such a node is a body, and for a step without a kind tree-sitter does not compute the
; possible children.
(object_definition body: (_ (val_definition pattern: (identifier) @name) @definition.constant))
(package_object body: (_ (val_definition pattern: (identifier) @name) @definition.constant))

(comment) @comment
(block_comment) @comment

(compilation_unit (_) @split
  (#set! statements "template_body enum_body block indented_block case_block indented_cases case_clause"))
(template_body (_) @split)
(enum_body (_) @split)
(block (_) @split)
(indented_block (_) @split)
(case_block (_) @split)
(case_clause) @split
(arguments (_) @split)
(class_parameters (_) @split)
