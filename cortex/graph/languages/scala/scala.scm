(package_clause name: (_) @package)
(class_definition name: (_) @name) @def.class
(object_definition name: (_) @name) @def.class
(package_object name: (_) @name) @def.packaged
(trait_definition name: (_) @name) @def.trait
(enum_definition name: (_) @name) @def.class
(type_definition name: (_) @name) @def.type
(function_definition name: (_) @name) @def.function
(function_declaration name: (_) @name) @def.function

(extends_clause [(type_identifier) (generic_type) (stable_type_identifier)] @base.extends)
(function_definition return_type: (_) @returns)
(function_definition body: [(call_expression) (identifier) (field_expression) (instance_expression)] @return)
(function_declaration return_type: (_) @returns)
(parameter name: (_) @param.name type: (_) @param.type)
(class_parameter name: (_) @bind.name type: (_) @bind.type)
(val_declaration name: (identifier) @bind.name type: (_) @bind.type)
(var_declaration name: (identifier) @bind.name type: (_) @bind.type)
(type_definition type: [(type_identifier) (generic_type) (stable_type_identifier)] @base.alias)
(val_definition pattern: (identifier) @bind.name type: (_)? @bind.type value: (_) @bind.value)
(var_definition pattern: (identifier) @bind.name type: (_)? @bind.type value: (_) @bind.value)
(type_parameters name: (identifier) @bound.name . bound: (upper_bound type: (_) @bound.type))
(enumerator . (identifier) @bind.name . "<-" . (_) @bind.each)
(enumerator . (identifier) @bind.name . "=" . (_) @bind.value)
(typed_pattern pattern: (identifier) @bind.name type: (_) @bind.type)
(capture_pattern name: (identifier) @bind.name pattern: [(case_class_pattern type: (_) @bind.type) (typed_pattern type: (_) @bind.type)])
(case_class_pattern type: (_) @bind.whole (identifier) @bind.name)
(case_clause pattern: (identifier) @bind.name)
(tuple_pattern (identifier) @bind.name)
(infix_pattern (identifier) @bind.name)
(lambda_expression parameters: (identifier) @bind.name)
(binding name: (identifier) @bind.name type: (_)? @bind.type)
(self_type . (identifier) @itself)
(self_type (identifier) . (_) @base.requires)

(block) @block
(lambda_expression) @block
(for_expression) @block
(case_clause) @block
(extension_definition) @block
(instance_expression (template_body) @def.anonymous @name)

(call_expression function: (_) @callee) @call
(instance_expression . (_) @callee) @call
(case_class_pattern type: (_) @callee) @call
(extends_clause . [(type_identifier) (generic_type) (stable_type_identifier)] @callee . (arguments)) @call
(infix_expression operator: (identifier) @callee) @call
(type_identifier) @type
(import_declaration) @import
(infix_expression operator: (operator_identifier)) @operator
