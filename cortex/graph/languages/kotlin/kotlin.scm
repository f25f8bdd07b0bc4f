(package_header (qualified_identifier) @package)
(class_declaration "interface" name: (_) @name) @def.interface
(class_declaration name: (_) @name) @def.class
(object_declaration name: (_) @name) @def.class
(function_declaration [(user_type) (nullable_type)] @owner . name: (_) @name) @def.method
(function_declaration name: (_) @name) @def.function
(type_alias type: (_) @name) @def.type
(type_alias (function_type) @aliased)
(type_alias type: (_) . [(user_type) (nullable_type)] @base.alias)

(delegation_specifier (constructor_invocation (user_type) @base.extends))
(delegation_specifier (user_type) @base.extends)
(delegation_specifier (explicit_delegation . (user_type) @base.extends))
(companion_object) @companion
(function_declaration (function_value_parameters) . [(user_type) (nullable_type)] @returns)
(function_body "=" . (_) @return)
(return_expression (_) @return)
(function_value_parameters (parameter (identifier) @param.name . (_) @param.type))
(class_parameter (identifier) @bind.name . [(user_type) (nullable_type) (function_type) (parenthesized_type)] @bind.type)
(property_declaration (variable_declaration (identifier) @bind.name . [(user_type) (nullable_type) (function_type) (parenthesized_type)] @bind.type))
(property_declaration (variable_declaration (identifier) @bind.name .) . (_) @bind.value)
(property_declaration (multi_variable_declaration (variable_declaration (identifier) @bind.name)) . (_) @bind.part)
(type_parameter (identifier) @bound.name (user_type) @bound.type)
(class_declaration name: (_) @bind.type (enum_class_body (enum_entry (identifier) @bind.name)))
(for_statement (variable_declaration (identifier) @bind.name) . (_) @bind.item)
(lambda_parameters (variable_declaration (identifier) @bind.name .))
(lambda_parameters (variable_declaration (identifier) @bind.name . [(user_type) (nullable_type)] @bind.type))

(if_expression . (_ [(identifier) (navigation_expression . (this_expression) (identifier))] @narrow "is" (user_type) @narrow.type) . (_) @narrow.block)
(if_expression . (binary_expression . (_ [(identifier) (navigation_expression . (this_expression) (identifier))] @narrow "is" (user_type) @narrow.type) "&&") . (_) @narrow.block)
(binary_expression . (_ [(identifier) (navigation_expression . (this_expression) (identifier))] @narrow "is" (user_type) @narrow.type) "&&" (_) @narrow.block)
(when_expression (when_subject [(identifier) (navigation_expression . (this_expression) (identifier))] @narrow) (when_entry (type_test "is" (user_type) @narrow.type) . (_) @narrow.block .))
(when_entry condition: (_ [(identifier) (navigation_expression . (this_expression) (identifier))] @narrow "is" (user_type) @narrow.type) . (_) @narrow.block .)
(when_entry condition: (binary_expression . (_ [(identifier) (navigation_expression . (this_expression) (identifier))] @narrow "is" (user_type) @narrow.type) "&&") . (_) @narrow.block .)
(while_statement condition: (_ [(identifier) (navigation_expression . (this_expression) (identifier))] @narrow "is" (user_type) @narrow.type) . (_) @narrow.block)
(if_expression . (_ [(identifier) (navigation_expression . (this_expression) (identifier))] @narrow "!is" (user_type) @narrow.type) . [(return_expression) (throw_expression) (block [(return_expression) (throw_expression)] .)] @narrow.after .)

(block) @block
(lambda_literal) @block
(object_literal (class_body) @def.anonymous @name)
(enum_entry (class_body) @def.anonymous @name)
(for_statement) @block

(call_expression . (_) @callee) @call
([(getter) (setter)] @accessor)
(class_declaration "interface" (class_body (property_declaration ["var" @accessor (variable_declaration ":" @accessor)])))
(property_declaration (modifiers (inheritance_modifier "abstract")) ["var" @accessor (variable_declaration ":" @accessor)])
(user_type) @type
(import) @import
(infix_expression . (_) . (identifier) @callee) @call
([(binary_expression) (in_expression) (index_expression) (range_expression) (property_delegate)] @operator)
([(assignment) (unary_expression)] @operator)
