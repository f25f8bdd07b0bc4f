(package_clause (package_identifier) @package)
(function_declaration name: (identifier) @name) @def.function
(method_declaration
  receiver: (parameter_list (parameter_declaration type: (_) @owner))
  name: (field_identifier) @name) @def.method
(source_file (var_declaration (var_spec name: (identifier) @name value: (expression_list . (func_literal) .)) @def.function))
(source_file (var_declaration (var_spec_list (var_spec name: (identifier) @name value: (expression_list . (func_literal) .)) @def.function)))
(type_spec name: (type_identifier) @name type: (struct_type)) @def.struct
(type_spec name: (type_identifier) @name type: (interface_type)) @def.interface
(type_spec name: (type_identifier) @name) @def.type
(type_alias name: (type_identifier) @name) @def.type
(method_elem name: (field_identifier) @name) @def.method
(source_file (const_declaration (const_spec name: (identifier) @name) @def.constant))
(source_file (var_declaration (var_spec name: (identifier) @name) @def.constant) (#not-eq? @name "_"))
(source_file (var_declaration (var_spec_list (var_spec name: (identifier) @name) @def.constant)) (#not-eq? @name "_"))

(struct_type (field_declaration_list (field_declaration !name type: (_) @base.embeds)))
(interface_type (type_elem . (type_identifier) @base.embeds .))
(interface_type (type_elem . (qualified_type) @base.embeds .))
(type_alias type: (_) @bind.alias)
(function_declaration result: (_) @returns)
(method_declaration result: (_) @returns)
(method_elem result: (_) @returns)

(parameter_declaration name: (identifier) @param.name type: (_) @param.type)
(variadic_parameter_declaration name: (identifier) @param.name type: (_) @param.item)
(parameter_declaration !name type: (_) @param.type)
(type_parameter_declaration name: (identifier) @bound.name type: (type_constraint [(type_identifier) (qualified_type) (generic_type)] @bound.type))
(field_declaration name: (field_identifier) @bind.name type: (_) @bind.type)

(short_var_declaration left: (expression_list (identifier) @bind.name))
(var_spec name: (identifier) @bind.name type: (_) @bind.type)
(var_spec name: (identifier) @bind.name !type value: (_))
(range_clause left: (expression_list . (identifier) @bind.name))
(range_clause left: (expression_list (_) (identifier) @bind.name) right: (_) @bind.item)
(type_switch_statement alias: (expression_list (identifier) @bind.name))

(block) @block
(func_literal) @block
(if_statement) @block
(for_statement) @block
(expression_switch_statement) @block
(type_switch_statement) @block
(expression_case) @block
(type_case) @block
(communication_case) @block

(call_expression function: (_) @callee) @call
; what the grammar takes for a conversion is a call of a generic function: Map[Item](items)
(type_conversion_expression type: (generic_type type: (_) @callee)) @call
(type_identifier) @type
(qualified_type) @type
(import_spec) @import
