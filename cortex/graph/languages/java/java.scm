(package_declaration (_) @package)
(class_declaration name: (_) @name) @def.class
(record_declaration name: (_) @name) @def.class
(enum_declaration name: (_) @name) @def.class
(interface_declaration name: (_) @name) @def.interface
(annotation_type_declaration name: (_) @name) @def.interface
([(method_declaration name: (_) @name) (annotation_type_element_declaration name: (_) @name)] @def.method)
(constructor_declaration name: (_) @name) @def.method

(superclass (_) @base.extends)
(super_interfaces (type_list (_) @base.implements))
(extends_interfaces (type_list (_) @base.extends))
([(method_declaration type: (_) @returns) (annotation_type_element_declaration type: (_) @returns)])
(formal_parameter type: (_) @param.type name: (_) @param.name)
(spread_parameter (_) @param.item . (variable_declarator name: (_) @param.name))
(type_parameter (type_identifier) @bound.name (type_bound (_) @bound.type))
(lambda_expression parameters: (identifier) @bind.name)
(inferred_parameters (identifier) @bind.name)

(field_declaration type: (_) @bind.type declarator: (variable_declarator name: (_) @bind.name))
(constant_declaration type: (_) @bind.type declarator: (variable_declarator name: (_) @bind.name))
(enum_declaration name: (_) @bind.type body: (enum_body (enum_constant name: (_) @bind.name)))
(local_variable_declaration type: (type_identifier) @var declarator: (variable_declarator name: (_) @bind.name value: (_) @bind.value) (#eq? @var "var"))
(local_variable_declaration type: (_) @bind.type declarator: (variable_declarator name: (_) @bind.name) (#not-eq? @bind.type "var"))
(enhanced_for_statement type: (type_identifier) @var name: (_) @bind.name value: (_) @bind.item (#eq? @var "var"))
(enhanced_for_statement type: (_) @bind.type name: (_) @bind.name (#not-eq? @bind.type "var"))
(catch_formal_parameter (catch_type (_) @bind.type) name: (_) @bind.name)
(instanceof_expression right: (_) @bind.type name: (_) @bind.name)
(resource type: (_) @bind.type name: (_) @bind.name)

(block) @block
(for_statement) @block
(enhanced_for_statement) @block
(catch_clause) @block
(lambda_expression) @block
(class_body (block) @block)
(object_creation_expression (class_body) @def.anonymous @name)
(enum_constant (class_body) @def.anonymous @name)

(method_invocation) @call @callee
(object_creation_expression type: (_) @callee) @call
(type_identifier) @type
(scoped_type_identifier) @type
([(marker_annotation name: (_) @type) (annotation name: (_) @type)])
(import_declaration) @import
