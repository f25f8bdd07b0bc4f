(class_specifier name: [(type_identifier) @name (qualified_identifier) @name (template_type name: (_) @name)] body: (_)) @def.class
(struct_specifier name: [(type_identifier) @name (qualified_identifier) @name (template_type name: (_) @name)] body: (_)) @def.struct
(union_specifier name: (type_identifier) @name body: (_)) @def.struct
(enum_specifier name: (type_identifier) @name body: (_)) @def.type
(alias_declaration name: (_) @name) @def.type
(type_definition declarator: (type_identifier) @name) @def.type
(concept_definition name: (_) @name) @def.interface
(namespace_definition name: (_) @name) @container
(function_definition declarator: (_ declarator: (identifier) @name)) @def.function
(function_definition declarator: (function_declarator declarator: [(identifier) (field_identifier) (operator_name) (qualified_identifier)] @name)) @def.function
(function_definition declarator: (_ (function_declarator declarator: [(identifier) (field_identifier) (operator_name) (qualified_identifier)] @name))) @def.function
(function_definition declarator: (_ (_ (function_declarator declarator: [(identifier) (field_identifier) (operator_name) (qualified_identifier)] @name)))) @def.function
(function_definition declarator: [(operator_cast) (qualified_identifier name: (operator_cast))] @name) @def.function
(declaration declarator: (operator_cast) @name) @def.declared
(field_declaration declarator: (function_declarator declarator: [(field_identifier) (operator_name)] @name)) @def.declared
(field_declaration declarator: (_ (function_declarator declarator: [(field_identifier) (operator_name)] @name))) @def.declared
(field_declaration declarator: (pointer_declarator (_ (function_declarator declarator: [(field_identifier) (operator_name)] @name)))) @def.declared
(declaration declarator: (_ declarator: (identifier) @name parameters: (_ (optional_parameter_declaration)))) @def.declared
(declaration declarator: (_ (_ declarator: (identifier) @name parameters: (_ (optional_parameter_declaration))))) @def.declared
(preproc_function_def name: (_) @name) @def.macro
(preproc_def name: (_) @name value: (_)) @def.constant
(preproc_def name: (_) @bind.name value: (_) @bind.value (#match? @bind.value "^(::)?[A-Za-z_][A-Za-z0-9_]*(::[A-Za-z_][A-Za-z0-9_]*)*[ \\t]*$"))
(preproc_def value: (_) @spaces (#match? @spaces "\\bnamespace[ \\t]+[A-Za-z_]"))
(preproc_params (identifier) @param.name)
(preproc_function_def value: (_) @macro.body)

(alias_declaration type: (type_descriptor type: (_) @base.alias))
(type_definition type: [(type_identifier) (qualified_identifier) (template_type)] @base.alias declarator: (type_identifier))
(alias_declaration type: (type_descriptor type: [(qualified_identifier) (template_type) (decltype) (dependent_type)] @aliased))
(alias_declaration type: (type_descriptor type: [(primitive_type) (sized_type_specifier)] @aliased !declarator))
(type_definition type: [(qualified_identifier) (template_type) (decltype) (dependent_type) (primitive_type) (sized_type_specifier)] @aliased declarator: (type_identifier))
(namespace_alias_definition) @import
(base_class_clause [(type_identifier) (qualified_identifier) (template_type)] @base.extends)
(function_definition type: (_) @returns (#not-eq? @returns "auto") (#not-eq? @returns "decltype(auto)"))
(field_declaration type: (_) @returns declarator: (function_declarator) (#not-eq? @returns "auto"))
(field_declaration type: (_) @returns declarator: (_ (function_declarator)) (#not-eq? @returns "auto"))
(field_declaration type: (_) @returns declarator: (pointer_declarator (_ (function_declarator))) (#not-eq? @returns "auto"))
(trailing_return_type (_) @returns)
(function_definition type: (placeholder_type_specifier) body: (compound_statement [(return_statement (_) @return)
  (if_statement consequence: (compound_statement (return_statement (_) @return)) alternative: (else_clause (compound_statement (return_statement (_) @return)))?)]))
(operator_cast type: (_) @returns)
(parameter_declaration type: (_) @param.type declarator: [(identifier) @param.name (_ declarator: (identifier) @param.name) (reference_declarator (identifier) @param.name)
  (_ (_ declarator: (identifier) @param.name)) (_ (reference_declarator (identifier) @param.name))])
(parameter_declaration type: (_) @param.type declarator: (function_declarator declarator: (parenthesized_declarator (_ declarator: (identifier) @param.name))))
(function_definition declarator: (_ parameters: (_ (parameter_declaration type: (_) @param.type !declarator))) (#not-eq? @param.type "void"))
(function_definition declarator: (_ parameters: (_ (parameter_declaration type: (_) @param.type declarator: [(abstract_pointer_declarator) (abstract_reference_declarator)]))))
(function_definition declarator: (_ declarator: (_ parameters: (_ (parameter_declaration type: (_) @param.type !declarator)))) (#not-eq? @param.type "void"))
(function_definition declarator: (_ declarator: (_ parameters: (_ (parameter_declaration type: (_) @param.type declarator: [(abstract_pointer_declarator) (abstract_reference_declarator)])))))
(field_declaration declarator: (_ parameters: (_ (parameter_declaration type: (_) @param.type !declarator))) (#not-eq? @param.type "void"))
(field_declaration declarator: (_ parameters: (_ (parameter_declaration type: (_) @param.type declarator: [(abstract_pointer_declarator) (abstract_reference_declarator)]))))
(field_declaration declarator: (_ declarator: (_ parameters: (_ (parameter_declaration type: (_) @param.type !declarator)))) (#not-eq? @param.type "void"))
(field_declaration declarator: (_ declarator: (_ parameters: (_ (parameter_declaration type: (_) @param.type declarator: [(abstract_pointer_declarator) (abstract_reference_declarator)])))))
(optional_parameter_declaration type: (_) @param.type declarator: [(identifier) @param.name (_ declarator: (identifier) @param.name) (reference_declarator (identifier) @param.name)])
(optional_parameter_declaration type: (_) @param.type declarator: (function_declarator declarator: (parenthesized_declarator (_ declarator: (identifier) @param.name))))
(optional_parameter_declaration type: (_) @param.type !declarator)
(variadic_parameter_declaration type: (_) @param.type declarator: [(variadic_declarator (identifier) @param.name) (_ (variadic_declarator (identifier) @param.name))])
(function_definition declarator: [(_ parameters: (_ "..." @param.type)) (_ declarator: (_ parameters: (_ "..." @param.type)))])
(field_declaration declarator: [(_ parameters: (_ "..." @param.type)) (_ declarator: (_ parameters: (_ "..." @param.type)))])
(declaration declarator: [(_ parameters: (_ (optional_parameter_declaration) "..." @param.type)) (_ declarator: (_ parameters: (_ (optional_parameter_declaration) "..." @param.type)))])
(field_declaration type: (_) @bind.type declarator: [(field_identifier) @bind.name (pointer_declarator (field_identifier) @bind.name) (reference_declarator (field_identifier) @bind.name) (array_declarator declarator: (field_identifier) @bind.name)])
(declaration type: (placeholder_type_specifier) declarator: (init_declarator declarator: [(identifier) @bind.name (_ (identifier) @bind.name)] value: [(initializer_list . (_) @bind.value .) (_) @bind.value]))
(lambda_capture_initializer left: (identifier) @bind.name right: (_) @bind.value)
(declaration type: [(type_identifier) (qualified_identifier) (template_type) (struct_specifier) (primitive_type) (sized_type_specifier)] @bind.type
  declarator: [(identifier) @bind.name (pointer_declarator (identifier) @bind.name) (reference_declarator (identifier) @bind.name) (array_declarator declarator: (identifier) @bind.name)
  (init_declarator declarator: (identifier) @bind.name) (init_declarator declarator: (_ declarator: (identifier) @bind.name)) (init_declarator declarator: (reference_declarator (identifier) @bind.name))])
(compound_statement (declaration type: [(type_identifier) (qualified_identifier) (template_type)] @bind.type declarator: (function_declarator declarator: (identifier) @bind.name)))
(for_range_loop type: (placeholder_type_specifier) declarator: [(identifier) @bind.name (reference_declarator (identifier) @bind.name)
  (pointer_declarator (identifier) @bind.name) (structured_binding_declarator . (identifier) . (identifier) @bind.name .)
  (reference_declarator (structured_binding_declarator . (identifier) . (identifier) @bind.name .))] right: (_) @bind.item)
(for_range_loop type: [(type_identifier) (qualified_identifier) (template_type)] @bind.type declarator: [(identifier) @bind.name (_ (identifier) @bind.name)])

(compound_statement) @block
(for_statement) @block
(for_range_loop) @block
(lambda_expression) @block
(catch_clause) @block

(call_expression function: (_) @callee) @call
(new_expression type: (_) @callee) @call
(declaration type: [(type_identifier) (qualified_identifier)] @callee declarator: (init_declarator value: [(argument_list) (initializer_list)])) @call
([(binary_expression) (subscript_expression) (unary_expression) (update_expression)] @operator)
(pointer_expression operator: "*") @operator
(user_defined_literal (literal_suffix) @suffix)
(condition_clause value: [(identifier) (field_expression)] @tested)
(conditional_expression condition: [(identifier) (field_expression)] @tested)
(for_statement condition: [(identifier) (field_expression)] @tested)
(assignment_expression operator: ["+=" "-=" "*=" "/="]) @operator
(type_identifier) @type
(qualified_identifier name: (type_identifier)) @type
(preproc_include) @import
(using_declaration) @import
