(class_declaration name: (_) @name) @def.class
(abstract_class_declaration name: (_) @name) @def.class
(interface_declaration name: (_) @name) @def.interface
(enum_declaration name: (_) @name) @def.type
(type_alias_declaration name: (_) @name) @def.type
(function_declaration name: (_) @name) @def.function
(generator_function_declaration name: (_) @name) @def.function
(function_signature name: (_) @name) @def.function
(class_body (method_definition name: (_) @name) @def.method)
(abstract_method_signature name: (_) @name) @def.method
(method_signature name: (_) @name) @def.method
(interface_body (property_signature name: (_) @name type: (type_annotation (function_type)))  @def.method)
(interface_body (call_signature) @name @def.called)
(type_alias_declaration value: (function_type) @name @def.called)
(type_alias_declaration value: (object_type (property_signature name: (_) @name type: (type_annotation (function_type))) @def.method))
(type_alias_declaration value: (object_type (call_signature) @name @def.called))
(variable_declarator name: (identifier) @name value: [(arrow_function) (function_expression) (generator_function)]) @def.function
(variable_declarator name: (identifier) @name value: (class)) @def.class
(intersection_type (object_type (property_signature name: (_) @name type: (type_annotation (function_type))) @def.part))
(intersection_type (object_type (call_signature) @name @def.part))
(intersection_type (parenthesized_type (function_type) @name @def.part))
(interface_body (property_signature name: (_) @name type: (type_annotation [(parenthesized_type (function_type)) (intersection_type (parenthesized_type (function_type)))])) @def.method)
(type_alias_declaration value: (object_type (property_signature name: (_) @name type: (type_annotation [(parenthesized_type (function_type)) (intersection_type (parenthesized_type (function_type)))])) @def.method))
(intersection_type (object_type (property_signature name: (_) @name type: (type_annotation [(parenthesized_type (function_type)) (intersection_type (parenthesized_type (function_type)))])) @def.part))
(interface_body (index_signature type: (type_annotation (_) @by_name)))
(type_alias_declaration value: (object_type (index_signature type: (type_annotation (_) @by_name))))
(public_field_definition name: (_) @name value: [(arrow_function) (function_expression)]) @def.method
(public_field_definition name: (_) @name type: (type_annotation (function_type)) !value) @def.method
(program (lexical_declaration (variable_declarator name: (identifier) @name) @def.constant))
(program (export_statement (lexical_declaration (variable_declarator name: (identifier) @name) @def.constant)))
(program (lexical_declaration (variable_declarator name: (object_pattern [(shorthand_property_identifier_pattern) @name (pair_pattern value: (identifier) @name) (object_assignment_pattern left: (shorthand_property_identifier_pattern) @name)])) @def.constant))
(program (export_statement (lexical_declaration (variable_declarator name: (object_pattern [(shorthand_property_identifier_pattern) @name (pair_pattern value: (identifier) @name) (object_assignment_pattern left: (shorthand_property_identifier_pattern) @name)])) @def.constant)))
(internal_module name: (_) @name) @def.module
(return_statement (function_expression name: (identifier) @name) @def.function)
(export_statement "default" @name value: [(arrow_function) (function_expression) (generator_function)]) @def.function
(export_statement "default" @name value: (class)) @def.class
(export_statement "default" value: [(binary_expression) (ternary_expression) (parenthesized_expression) (call_expression) (as_expression) (satisfies_expression)] @valued)
(assignment_expression left: (member_expression) right: [(binary_expression) (ternary_expression) (parenthesized_expression) (call_expression) (as_expression) (satisfies_expression)] @valued)
(class) @class_value
(arguments [(function_expression name: (identifier) @name) (generator_function name: (identifier) @name)] @def.argument)
(assignment_expression left: (member_expression property: (_) @name)
  right: [(arrow_function) (function_expression) (generator_function) (class)]) @def.assigned
(pair key: (_) @name value: [(arrow_function) (function_expression) (generator_function)]) @def.member
(object (method_definition name: (_) @name) @def.member)
(variable_declarator name: (identifier) value: (object) @container)
(program (_ (variable_declarator value: (_ . (object) @container))))
(program (export_statement (_ (variable_declarator value: (_ . (object) @container)))))
(export_statement value: (ternary_expression (object) @container))
(program (_ (variable_declarator value: (ternary_expression (object) @container))))
(assignment_expression left: (member_expression) right: (object) @container)
(export_statement value: (object) @container)
(export_statement value: [(as_expression . (object) @container) (satisfies_expression . (object) @container)])
(return_statement (object) @container)
(arrow_function body: (parenthesized_expression (object) @container))
(call_expression function: (member_expression object: (identifier) property: (property_identifier) @_assign)
  arguments: (arguments . (_) (object) @container) (#any-of? @_assign "assign" "extend"))
(pair key: (_) @name value: (as_expression [(arrow_function) (parenthesized_expression [(arrow_function) (function_expression)])])) @def.member

(class_heritage (extends_clause value: (_) @base.extends))
(class_heritage (implements_clause (_) @base.implements))
(extends_type_clause type: (_) @base.extends)
(type_alias_declaration value: [(type_identifier) (generic_type) (nested_type_identifier) (type_query) (intersection_type) (union_type)] @base.alias)
(function_declaration return_type: (type_annotation (_) @returns))
(function_signature return_type: (type_annotation (_) @returns))
(generator_function_declaration return_type: (type_annotation (_) @returns))
(method_definition return_type: (type_annotation (_) @returns))
(method_signature return_type: (type_annotation (_) @returns))
(abstract_method_signature return_type: (type_annotation (_) @returns))
(arrow_function return_type: (type_annotation (_) @returns))
(call_signature return_type: (type_annotation (_) @returns))
(type_alias_declaration value: (function_type return_type: (_) @returns))
(property_signature type: (type_annotation (function_type return_type: (_) @returns)))
(public_field_definition type: (type_annotation (function_type return_type: (_) @returns)) !value)
(arrow_function body: [(identifier) (call_expression) (new_expression) (member_expression) (await_expression)] @return.value)
(return_statement (_) @return.value)

(required_parameter pattern: [(identifier) (this)] @param.name type: (type_annotation (_) @param.type)? value: (_)? @param.value)
(required_parameter (accessibility_modifier) @field pattern: (identifier) @param.name type: (type_annotation (_) @param.type)?)
(optional_parameter pattern: (identifier) @param.name type: (type_annotation (_) @param.type)?)
(required_parameter pattern: (rest_pattern (identifier) @param.name) type: (type_annotation (_) @param.type)?)
(required_parameter pattern: (object_pattern (shorthand_property_identifier_pattern) @bind.name))
(required_parameter pattern: (object_pattern (pair_pattern value: (identifier) @bind.name)))
(arrow_function parameter: (identifier) @param.name)

(variable_declarator name: (identifier) @bind.name type: (type_annotation (_) @bind.type)? value: (_)? @bind.value)
(variable_declarator name: (object_pattern (shorthand_property_identifier_pattern) @bind.name))
(variable_declarator name: (object_pattern (pair_pattern value: (identifier) @bind.name)))
(variable_declarator name: (object_pattern (object_assignment_pattern left: (shorthand_property_identifier_pattern) @bind.name)))
(variable_declarator name: (array_pattern (identifier) @bind.name))
(assignment_expression left: (identifier) @bind.name right: (_) @bind.value)
(assignment_expression left: (member_expression) @bind.name right: (_) @bind.value)
(public_field_definition name: (_) @bind.name type: (type_annotation (_) @bind.type)? value: (_)? @bind.value)
(property_signature name: (_) @bind.name type: (type_annotation (_) @bind.type)?)
(for_in_statement left: (identifier) @bind.name operator: "of" right: (_) @bind.item)
(catch_clause parameter: (identifier) @bind.name)
(type_parameter name: (type_identifier) @bound.name constraint: (constraint (_) @bound.type))

(if_statement condition: (parenthesized_expression (_ left: [(identifier) (member_expression object: (this))] @narrow operator: "instanceof" right: (_) @narrow.type)) consequence: (_) @narrow.block)
(if_statement condition: (parenthesized_expression (unary_expression operator: "!" argument: (parenthesized_expression (_ left: [(identifier) (member_expression object: (this))] @narrow operator: "instanceof" right: (_) @narrow.type))))
  consequence: [(return_statement) (throw_statement) (statement_block [(return_statement) (throw_statement)] .)] @narrow.after !alternative)
(binary_expression left: (_ left: [(identifier) (member_expression object: (this))] @narrow operator: "instanceof" right: (_) @narrow.type) operator: "&&" right: (_) @narrow.block)
(ternary_expression condition: (_ left: [(identifier) (member_expression object: (this))] @narrow operator: "instanceof" right: (_) @narrow.type) consequence: (_) @narrow.block)

(statement_block) @block
(arrow_function) @block
(function_expression) @block
(generator_function) @block
(for_statement) @block
(for_in_statement) @block
(catch_clause) @block
(object (method_definition) @block)
(function_type) @block

(call_expression function: (_) @callee) @call
(new_expression constructor: (_) @callee) @call
(decorator [(identifier) (member_expression)] @callee) @call
(type_identifier) @type
(nested_type_identifier) @type
(import_statement) @import
(export_statement) @import
