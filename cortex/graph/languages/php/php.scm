(namespace_definition name: (_) @package)
(class_declaration name: (_) @name) @def.class
(enum_declaration name: (_) @name) @def.class
(interface_declaration name: (_) @name) @def.interface
(trait_declaration name: (_) @name) @def.trait
(function_definition name: (_) @name) @def.function
(method_declaration name: (_) @name) @def.method
(anonymous_class body: (_) @def.anonymous @name)

(class_declaration (base_clause [(name) (qualified_name)] @base.extends))
(interface_declaration (base_clause [(name) (qualified_name)] @base.extends))
(class_interface_clause [(name) (qualified_name)] @base.implements)
(use_declaration [(name) (qualified_name)] @base.embeds)
(function_definition return_type: (_) @returns)
(method_declaration return_type: (_) @returns)
(return_statement (_) @return.value)
(simple_parameter type: (_)? @param.type name: (_) @param.name)
(variadic_parameter type: (_)? @param.item name: (_) @param.name)
(property_promotion_parameter visibility: (_) @field type: (_) @param.type name: (_) @param.name)

(property_declaration type: (_) @bind.type (property_element name: (_) @bind.name))
(property_declaration !type (property_element name: (_) @bind.name))
((comment) @told (#match? @told "@(phpstan-|psalm-)?var\\s"))
(assignment_expression left: (variable_name) @bind.name right: (_) @bind.value)
(assignment_expression left: (member_access_expression) @bind.name right: (_) @bind.value)
(foreach_statement . (_) @bind.item . (variable_name) @bind.name)
(foreach_statement . (_) @bind.item . (pair (_) . (variable_name) @bind.name))
(catch_clause type: (_) @bind.type name: (_) @bind.name)

(if_statement condition: (parenthesized_expression (_ left: [(variable_name) (member_access_expression object: (variable_name))] @narrow operator: "instanceof" right: [(name) (qualified_name)] @narrow.type)) body: (_) @narrow.block)
(else_if_clause condition: (parenthesized_expression (_ left: [(variable_name) (member_access_expression object: (variable_name))] @narrow operator: "instanceof" right: [(name) (qualified_name)] @narrow.type)) body: (_) @narrow.block)
(if_statement condition: (parenthesized_expression (binary_expression left: (_ left: [(variable_name) (member_access_expression object: (variable_name))] @narrow operator: "instanceof" right: [(name) (qualified_name)] @narrow.type) operator: "&&")) body: (_) @narrow.block)
(if_statement condition: (parenthesized_expression (binary_expression operator: "&&" right: (_ left: [(variable_name) (member_access_expression object: (variable_name))] @narrow operator: "instanceof" right: [(name) (qualified_name)] @narrow.type))) body: (_) @narrow.block)
(binary_expression left: (_ left: [(variable_name) (member_access_expression object: (variable_name))] @narrow operator: "instanceof" right: [(name) (qualified_name)] @narrow.type) operator: "&&" right: (_) @narrow.block)
(conditional_expression condition: (_ left: [(variable_name) (member_access_expression object: (variable_name))] @narrow operator: "instanceof" right: [(name) (qualified_name)] @narrow.type) body: (_) @narrow.block)
(if_statement condition: (parenthesized_expression (unary_op_expression "!" argument: [(_ left: [(variable_name) (member_access_expression object: (variable_name))] @narrow operator: "instanceof" right: [(name) (qualified_name)] @narrow.type) (parenthesized_expression (_ left: [(variable_name) (member_access_expression object: (variable_name))] @narrow operator: "instanceof" right: [(name) (qualified_name)] @narrow.type))]))
  body: (compound_statement [(return_statement) (expression_statement (throw_expression))] .) @narrow.after)

(anonymous_function) @block
(arrow_function) @block

(function_call_expression function: [(name) (qualified_name)] @callee) @call
(member_call_expression) @call @callee
(nullsafe_member_call_expression) @call @callee
(scoped_call_expression) @call @callee
(object_creation_expression [(name) (qualified_name)] @callee) @call
(named_type) @type
(attribute [(name) (qualified_name)] @type)
(namespace_use_declaration) @import
