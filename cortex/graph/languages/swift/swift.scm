; `(_ "func" …)`: what a child of `function_declaration` may be takes tree-sitter 200 ms to find out, for
; each pattern and in each process; of a parent of any kind it takes none.
(class_declaration "extension" name: (_) @name) @container
(class_declaration "struct" name: (type_identifier) @name) @def.struct
(class_declaration name: (type_identifier) @name) @def.class
(protocol_declaration name: (_) @name) @def.interface
(protocol_function_declaration name: (simple_identifier) @name) @def.method
(_ "func" . name: _ @name) @def.function
(init_declaration "init" @name) @def.method
(_ name: (_ bound_identifier: (simple_identifier) @name) (type_annotation (_) @computed.type)? computed_value: (_)) @def.computed
([(computed_getter) (computed_setter) (willset_clause) (didset_clause) (protocol_property_requirements)] @accessor)
(computed_property (statements) @accessor)
(typealias_declaration name: (type_identifier) @name) @def.type

(inheritance_specifier inherits_from: (_) @base.extends)
(_ "func" name: [(user_type) (optional_type)] @returns body: (_))
(protocol_function_declaration name: (user_type) @returns)
(parameter name: (simple_identifier) @param.name name: (_) @param.type .)
(property_declaration name: (_ bound_identifier: (_) @bind.name) (type_annotation (_) @bind.type)? value: (_)? @bind.value)
(type_parameter (type_identifier) @bound.name [(user_type) (protocol_composition_type)] @bound.type)
(inheritance_constraint (identifier) @bound.name [(user_type) (protocol_composition_type)] @bound.type)
(_ ["if" "guard" "while"] bound_identifier: (simple_identifier) @bind.name . (_) @bind.value)
(for_statement item: (_ bound_identifier: (_) @bind.name) collection: (_) @bind.item)
(lambda_parameter name: (simple_identifier) @bind.name (_)? @bind.type)
(pattern (pattern (simple_identifier) @bind.name))
(catch_block (pattern (simple_identifier) @bind.name))
(if_statement (pattern (simple_identifier) @bind.name))
(guard_statement (pattern (simple_identifier) @bind.name))

([(if_statement) (for_statement) (while_statement) (switch_entry) (catch_block) (lambda_literal)] @block)

(call_expression . (_) @callee (call_suffix . [(value_arguments . "(") (lambda_literal)])) @call
(call_expression (call_suffix . (value_arguments . "["))) @operator
([(prefix_expression) (postfix_expression)] @operator)
([(additive_expression) (multiplicative_expression) (equality_expression) (comparison_expression) (infix_expression) (assignment)] @operator)
(user_type) @type
(import_declaration) @import
