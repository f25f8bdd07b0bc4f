(file_scoped_namespace_declaration name: (_) @package)
(namespace_declaration name: (_) @package)
(class_declaration name: (_) @name) @def.class
(record_declaration name: (_) @name) @def.class
(struct_declaration name: (_) @name) @def.struct
(enum_declaration name: (_) @name) @def.type
(interface_declaration name: (_) @name) @def.interface
(delegate_declaration name: (_) @name) @def.type
(method_declaration name: (_) @name) @def.method
(constructor_declaration name: (_) @name) @def.method
(local_function_statement name: (_) @name) @def.function
(operator_declaration operator: _ @name) @def.method
(conversion_operator_declaration type: (_) @name) @def.method
(property_declaration name: (_) @name) @def.property
(event_field_declaration (variable_declaration (variable_declarator name: (_) @name))) @def.property
(accessor_declaration body: (_)) @accessor
(property_declaration value: (arrow_expression_clause) @accessor)
(indexer_declaration value: (arrow_expression_clause) @accessor)
(interface_declaration body: (_ (_ accessors: (_ (accessor_declaration !body) @accessor))))
(property_declaration (modifier "abstract") accessors: (_ (accessor_declaration !body) @accessor))
(indexer_declaration (modifier "abstract") accessors: (_ (accessor_declaration !body) @accessor))

(base_list [(identifier) (generic_name) (qualified_name)] @base.extends)
(base_list (primary_constructor_base_type type: (_) @base.extends))
(method_declaration returns: (_) @returns)
(local_function_statement type: (_) @returns)
(operator_declaration type: (_) @returns)
(conversion_operator_declaration type: (_) @returns)
(parameter type: (_) @param.type name: (_) @param.name)
(parameter_list type: (_) @param.type name: (_) @param.name)
(lambda_expression parameters: (identifier) @bind.name)
(implicit_parameter) @bind.name
(lambda_expression parameters: (parameter_list (parameter !type name: (_) @bind.name)))

(type_parameter_constraints_clause (identifier) @bound.name (type_parameter_constraint type: (_) @bound.type))
(enum_declaration name: (_) @bind.type body: (_ (enum_member_declaration name: (_) @bind.name)))
(field_declaration (variable_declaration type: (_) @bind.type (variable_declarator name: (_) @bind.name)))
(property_declaration type: (_) @bind.type name: (_) @bind.name)
(event_field_declaration (variable_declaration type: (_) @bind.type (variable_declarator name: (_) @bind.name)))
(for_statement initializer: (variable_declaration type: [(identifier) (generic_name) (predefined_type)] @bind.type (variable_declarator name: (_) @bind.name)))
(declaration_expression type: (_) @bind.type name: (identifier) @bind.name)
(local_declaration_statement (variable_declaration type: (implicit_type) (variable_declarator name: (_) @bind.name (_) @bind.value)))
(local_declaration_statement (variable_declaration type: [(identifier) (generic_name) (qualified_name) (nullable_type) (array_type) (predefined_type) (tuple_type) (alias_qualified_name)] @bind.type (variable_declarator name: (_) @bind.name)))
(using_statement (variable_declaration type: [(identifier) (generic_name) (qualified_name)] @bind.type (variable_declarator name: (_) @bind.name)))
(using_statement (variable_declaration type: (implicit_type) (variable_declarator name: (_) @bind.name (_) @bind.value)))
(foreach_statement type: (implicit_type) left: (identifier) @bind.name right: (_) @bind.item)
(foreach_statement type: [(identifier) (generic_name) (qualified_name)] @bind.type left: (identifier) @bind.name)
(catch_declaration type: (_) @bind.type name: (_) @bind.name)
(declaration_pattern type: (_) @bind.type name: (_) @bind.name)

(block) @block
(for_statement) @block
(foreach_statement) @block
(catch_clause) @block
(lambda_expression) @block

(invocation_expression function: (_) @callee) @call
(object_creation_expression type: (_) @callee) @call
(object_creation_expression type: (_) @initialized.type initializer: (_ (assignment_expression left: (identifier) @initialized)))
([(binary_expression) (element_access_expression) (prefix_unary_expression) (postfix_unary_expression)] @operator)
(cast_expression value: [(identifier) (member_access_expression)]) @converted
(assignment_expression operator: ["+=" "-=" "*=" "/="]) @operator
(primary_constructor_base_type type: (_) @callee) @call
(attribute name: (_) @callee) @call
(parameter type: (_) @type)
(variable_declaration type: [(identifier) (generic_name) (qualified_name) (nullable_type) (array_type)] @type)
(property_declaration type: (_) @type)
(method_declaration returns: (_) @type)
(cast_expression type: (_) @type)
(using_directive) @import
