(package_clause (package_identifier) @package)
(import_spec) @import

(function_declaration name: (identifier) @name body: (_)? @body) @definition.function
(method_declaration
  receiver: (parameter_list (parameter_declaration type: [
    (type_identifier) @scope
    (pointer_type (type_identifier) @scope)
    (generic_type type: (type_identifier) @scope)
    (pointer_type (generic_type type: (type_identifier) @scope))
  ]))
  name: (field_identifier) @name
  body: (_)? @body) @definition.method

(type_declaration (type_spec name: (type_identifier) @name)) @definition.type
(type_declaration (type_spec name: (type_identifier) @name type: (struct_type))) @definition.struct
(type_declaration (type_spec name: (type_identifier) @name type: (interface_type))) @definition.interface
(type_declaration (type_alias name: (type_identifier) @name)) @definition.type

(source_file (const_declaration (const_spec name: (identifier) @name)) @definition.constant)
(source_file (var_declaration (var_spec name: (identifier) @name)) @definition.variable)
(source_file (var_declaration (var_spec_list (var_spec name: (identifier) @name))) @definition.variable)

(comment) @comment

(source_file (_) @split
  (#set! statements "statement_list field_declaration_list interface_type expression_switch_statement type_switch_statement select_statement"))
(statement_list (_) @split)
(literal_value (_) @split)
(argument_list (_) @split)
(field_declaration_list (_) @split)
(interface_type (_) @split)
(const_declaration (_) @split)
(var_declaration (_) @split)
(expression_switch_statement (_) @split)
(type_switch_statement (_) @split)
(select_statement (_) @split)
