(abstract_class_declaration name: (_) @name) @def.class
(interface_declaration name: (_) @name) @def.interface
(enum_declaration name: (_) @name) @def.type
(type_alias_declaration name: (_) @name) @def.type
(function_signature name: (_) @name) @def.function
(abstract_method_signature name: (_) @name) @def.method
(method_signature name: (_) @name) @def.method
(interface_body (property_signature name: (_) @name type: (type_annotation (function_type)))  @def.method)
(interface_body (call_signature) @name @def.called)
(type_alias_declaration value: (function_type) @name @def.called)
(type_alias_declaration value: (object_type (property_signature name: (_) @name type: (type_annotation (function_type))) @def.method))
(type_alias_declaration value: (object_type (call_signature) @name @def.called))
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
(internal_module name: (_) @name) @def.module
(export_statement "default" value: [(binary_expression) (ternary_expression) (parenthesized_expression) (call_expression) (as_expression) (satisfies_expression)] @valued)
(assignment_expression left: (member_expression) right: [(binary_expression) (ternary_expression) (parenthesized_expression) (call_expression) (as_expression) (satisfies_expression)] @valued)
(program (_ (variable_declarator value: (_ . (object) @container))))
(program (export_statement (_ (variable_declarator value: (_ . (object) @container)))))
(export_statement value: [(as_expression . (object) @container) (satisfies_expression . (object) @container)])
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

(required_parameter pattern: [(identifier) (this)] @param.name type: (type_annotation (_) @param.type)? value: (_)? @param.value)
(required_parameter (accessibility_modifier) @field pattern: (identifier) @param.name type: (type_annotation (_) @param.type)?)
(optional_parameter pattern: (identifier) @param.name type: (type_annotation (_) @param.type)?)
(required_parameter pattern: (rest_pattern (identifier) @param.name) type: (type_annotation (_) @param.type)?)
(required_parameter pattern: (object_pattern (shorthand_property_identifier_pattern) @bind.name))
(required_parameter pattern: (object_pattern (pair_pattern value: (identifier) @bind.name)))

(variable_declarator name: (identifier) @bind.name type: (type_annotation (_) @bind.type)? value: (_)? @bind.value)
(public_field_definition name: (_) @bind.name type: (type_annotation (_) @bind.type)? value: (_)? @bind.value)
(property_signature name: (_) @bind.name type: (type_annotation (_) @bind.type)?)
(type_parameter name: (type_identifier) @bound.name constraint: (constraint (_) @bound.type))

(arguments (object) @given) @_in

(function_type) @block

(type_identifier) @type
(nested_type_identifier) @type
