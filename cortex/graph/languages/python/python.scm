(class_definition name: (identifier) @name) @def.class
(function_definition name: (identifier) @name) @def.function
(type_alias_statement left: (type (identifier) @name)) @def.type
(module (expression_statement (assignment left: (identifier) @name) @def.constant))

(class_definition superclasses: (argument_list [(identifier) (attribute) (subscript) (call)] @base.extends))
(function_definition return_type: (type) @returns)
(return_statement (_) @return.value)
(yield (_) @return.yield)

(parameters (identifier) @param.name)
(parameters (typed_parameter . (identifier) @param.name type: (type) @param.type))
(parameters (typed_parameter . (list_splat_pattern (identifier) @param.name)))
(parameters (typed_parameter . (dictionary_splat_pattern (identifier) @param.name)))
(parameters (default_parameter name: (identifier) @param.name))
(parameters (typed_default_parameter name: (identifier) @param.name type: (type) @param.type))
(parameters (list_splat_pattern (identifier) @param.name))
(parameters (dictionary_splat_pattern (identifier) @param.name))
(lambda_parameters (identifier) @bind.name)
(lambda_parameters (default_parameter name: (identifier) @bind.name))

(assignment left: (identifier) @bind.name type: (type)? @bind.type right: (_)? @bind.value)
(assignment left: (attribute) @bind.name type: (type)? @bind.type right: (_)? @bind.value)
(assignment left: (pattern_list (identifier) @bind.name))
(assignment left: (tuple_pattern (identifier) @bind.name))
(named_expression name: (identifier) @bind.name value: (_) @bind.value)
(for_statement left: (identifier) @bind.name right: (_) @bind.item)
(for_statement left: (_ (identifier) @bind.name))
(for_statement left: (pattern_list (_) . (identifier) @bind.name .) right: (call function: (identifier) @_each arguments: (argument_list . (_) @bind.item)) (#eq? @_each "enumerate"))
(for_statement left: (pattern_list (_) . (identifier) @bind.name .) right: (call function: (attribute object: (_) @bind.item attribute: (identifier) @_each)) (#eq? @_each "items"))
(for_in_clause left: (identifier) @bind.name right: (_) @bind.item)
(for_in_clause left: (_ (identifier) @bind.name))
(for_in_clause left: (pattern_list (_) . (identifier) @bind.name .) right: (call function: (identifier) @_each arguments: (argument_list . (_) @bind.item)) (#eq? @_each "enumerate"))
(for_in_clause left: (pattern_list (_) . (identifier) @bind.name .) right: (call function: (attribute object: (_) @bind.item attribute: (identifier) @_each)) (#eq? @_each "items"))
(with_item value: (as_pattern (_) @bind.value alias: (as_pattern_target (identifier) @bind.name)))
(except_clause (as_pattern (_) @bind.made alias: (as_pattern_target (identifier) @bind.name)))

([(if_statement condition: (call function: (identifier) @_isinstance arguments: (argument_list . [(identifier) (attribute object: (identifier) attribute: (identifier))] @narrow . (_) @narrow.type .)) consequence: (block) @narrow.block) (elif_clause condition: (call function: (identifier) @_isinstance arguments: (argument_list . [(identifier) (attribute object: (identifier) attribute: (identifier))] @narrow . (_) @narrow.type .)) consequence: (block) @narrow.block)] (#eq? @_isinstance "isinstance"))
(conditional_expression . (_) @narrow.block . (call function: (identifier) @_isinstance arguments: (argument_list . [(identifier) (attribute object: (identifier) attribute: (identifier))] @narrow . (_) @narrow.type .)) (#eq? @_isinstance "isinstance"))
(boolean_operator left: (call function: (identifier) @_isinstance arguments: (argument_list . [(identifier) (attribute object: (identifier) attribute: (identifier))] @narrow . (_) @narrow.type .)) operator: "and" right: (_) @narrow.block (#eq? @_isinstance "isinstance"))
(if_statement condition: (not_operator argument: (call function: (identifier) @_isinstance arguments: (argument_list . [(identifier) (attribute object: (identifier) attribute: (identifier))] @narrow . (_) @narrow.type .))) consequence: (block [(return_statement) (raise_statement) (continue_statement)] .) @narrow.after !alternative (#eq? @_isinstance "isinstance"))
(assert_statement . (call function: (identifier) @_isinstance arguments: (argument_list . [(identifier) (attribute object: (identifier) attribute: (identifier))] @narrow . (_) @narrow.type .))
  (#eq? @_isinstance "isinstance"))

(lambda) @block
(list_comprehension) @block
(set_comprehension) @block
(dictionary_comprehension) @block
(generator_expression) @block

(call function: (_) @callee) @call
(decorator [(identifier) (attribute)] @callee) @call
(type) @type
(import_statement) @import
(import_from_statement) @import
(module (expression_statement (assignment left: (identifier) @_plugins right: [(string) (list) (tuple)] @import)) (#eq? @_plugins "pytest_plugins"))
([(binary_operator) (augmented_assignment)] @operator)
