(namespace_definition name: (_) @package)
(class_declaration name: (_) @name) @def.class
(enum_declaration name: (_) @name) @def.class
(interface_declaration name: (_) @name) @def.interface
(trait_declaration name: (_) @name) @def.trait
(function_definition name: (_) @name) @def.function
(method_declaration name: (_) @name) @def.method

(class_declaration (base_clause [(name) (qualified_name)] @base.extends))
(interface_declaration (base_clause [(name) (qualified_name)] @base.extends))
(class_interface_clause [(name) (qualified_name)] @base.implements)
(use_declaration [(name) (qualified_name)] @base.embeds)
(function_definition return_type: (_) @returns)
(method_declaration return_type: (_) @returns)
(simple_parameter type: (_)? @param.type name: (_) @param.name)
(variadic_parameter type: (_)? @param.item name: (_) @param.name)
(property_promotion_parameter visibility: (_) @field type: (_) @param.type name: (_) @param.name)

(property_declaration type: (_) @bind.type (property_element name: (_) @bind.name))
(assignment_expression left: (variable_name) @bind.name right: (_) @bind.value)
(assignment_expression left: (member_access_expression) @bind.name right: (_) @bind.value)
(foreach_statement . (_) @bind.item . (variable_name) @bind.name)
(catch_clause type: (_) @bind.type name: (_) @bind.name)

(anonymous_function) @block
(arrow_function) @block

(function_call_expression function: [(name) (qualified_name)] @callee) @call
(member_call_expression) @call @callee
(nullsafe_member_call_expression) @call @callee
(scoped_call_expression) @call @callee
(object_creation_expression [(name) (qualified_name)] @callee) @call
(named_type) @type
(namespace_use_declaration) @import
