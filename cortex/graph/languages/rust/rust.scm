(struct_item name: (_) @name) @def.struct
(union_item name: (_) @name) @def.struct
(enum_item name: (_) @name) @def.type
(type_item name: (_) @name) @def.type
(trait_item name: (_) @name) @def.trait
(function_item name: (_) @name) @def.function
(enum_variant name: (_) @name body: (ordered_field_declaration_list)) @def.variant
(function_signature_item name: (_) @name) @def.function
(const_item name: (_) @name) @def.constant
(static_item name: (_) @name) @def.constant
(macro_definition name: (_) @name) @def.macro
(mod_item name: (_) @name body: (_)) @container
(impl_item type: (_) @name) @container

(type_item type: [(type_identifier) (scoped_type_identifier) (generic_type)] @base.alias)
(impl_item trait: (_) @base.implements)
(attribute_item (attribute (identifier) @_derive arguments: (token_tree) @derived) (#eq? @_derive "derive"))
(trait_item bounds: (trait_bounds (_) @base.extends))
(function_item return_type: (_) @returns)
(function_signature_item return_type: (_) @returns)
(parameter pattern: (identifier) @param.name type: (_) @param.type)
(parameter pattern: (mut_pattern (identifier) @param.name) type: (_) @param.type)
(closure_parameters (identifier) @bind.name)
(closure_parameters (parameter pattern: (identifier) @bind.name type: (_) @bind.type))
(field_declaration name: (_) @bind.name type: (_) @bind.type)
(struct_item body: (ordered_field_declaration_list) @fields)
(enum_variant body: (ordered_field_declaration_list) @fields)

(static_item name: (identifier) @bind.name type: (_) @bind.type)
(const_item name: (identifier) @bind.name type: (_) @bind.type)
(let_declaration pattern: (identifier) @bind.name type: (_)? @bind.type value: (_)? @bind.value)
(let_declaration pattern: (mut_pattern (identifier) @bind.name) type: (_)? @bind.type value: (_)? @bind.value)
(let_declaration pattern: (tuple_pattern (identifier) @bind.name))
(let_declaration pattern: (tuple_struct_pattern type: (identifier) @_some . (identifier) @bind.name .) value: (_) @bind.value (#any-of? @_some "Some" "Ok"))
(let_condition pattern: (tuple_struct_pattern type: (identifier) @_some . (identifier) @bind.name .) value: (_) @bind.value (#any-of? @_some "Some" "Ok"))
(let_condition pattern: (tuple_struct_pattern type: (_) (identifier) @bind.name))
(let_condition pattern: (tuple_struct_pattern type: (_) [(ref_pattern [(identifier) @bind.name (mut_pattern (identifier) @bind.name)]) (mut_pattern (identifier) @bind.name)]))
(match_pattern (tuple_struct_pattern type: (_) [(ref_pattern [(identifier) @bind.name (mut_pattern (identifier) @bind.name)]) (mut_pattern (identifier) @bind.name)]))
(let_declaration pattern: (struct_pattern (field_pattern [(shorthand_field_identifier) (identifier)] @bind.name)))
(let_condition pattern: (struct_pattern (field_pattern [(shorthand_field_identifier) (identifier)] @bind.name)))
(match_pattern (struct_pattern (field_pattern [(shorthand_field_identifier) (identifier)] @bind.name)))
(for_expression pattern: (identifier) @bind.name value: (_) @bind.item)
(match_pattern (tuple_struct_pattern type: (_) (identifier) @bind.name))
(type_parameter name: (type_identifier) @bound.name bounds: (trait_bounds) @bound.type)
(where_predicate left: (type_identifier) @bound.name bounds: (trait_bounds) @bound.type)

(block) @block
(closure_expression) @block
(if_expression) @block
(while_expression) @block
(for_expression) @block
(match_arm) @block

(call_expression function: (_) @callee) @call
(struct_expression name: (_) @callee) @call
(macro_invocation macro: (_) @callee) @call
(token_tree (identifier) @tokens . (token_tree) @group)
(type_identifier) @type
(scoped_type_identifier) @type
(use_declaration) @import
([(binary_expression) (compound_assignment_expr) (index_expression)] @operator)
