(namespace_definition name: (_) @package)
(namespace_use_declaration) @import
(include_expression) @import
(include_once_expression) @import
(require_expression) @import
(require_once_expression) @import

(class_declaration name: (name) @name body: (_) @body) @definition.class
(interface_declaration name: (name) @name body: (_) @body) @definition.interface
(trait_declaration name: (name) @name body: (_) @body) @definition.trait
(enum_declaration name: (name) @name) @definition.enum
(function_definition name: (name) @name body: (_) @body) @definition.function
(method_declaration name: (name) @name body: (_)? @body) @definition.method

(const_declaration (const_element (name) @name)) @definition.constant
(property_declaration (static_modifier)
  (property_element name: (variable_name (name) @name) default_value: (_))) @definition.variable
(program (expression_statement (assignment_expression left: (variable_name (name) @name))) @definition.variable)

(comment) @comment

(program (_) @split
  (#set! statements "declaration_list enum_declaration_list compound_statement colon_block switch_block case_statement default_statement"))
(declaration_list (_) @split)
(enum_declaration_list (_) @split)
(compound_statement (_) @split)
(switch_block (_) @split)
(case_statement (_) @split)
(match_block (_) @split)
(array_creation_expression (_) @split)
(arguments (_) @split)
