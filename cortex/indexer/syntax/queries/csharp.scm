(file_scoped_namespace_declaration name: (_) @package)
(namespace_declaration name: (_) @package)
(using_directive) @import

(class_declaration name: (identifier) @name body: (_)? @body) @definition.class
(record_declaration name: (identifier) @name body: (_)? @body) @definition.class
(struct_declaration name: (identifier) @name body: (_)? @body) @definition.struct
(interface_declaration name: (identifier) @name body: (_)? @body) @definition.interface
(enum_declaration name: (identifier) @name) @definition.enum
(delegate_declaration name: (identifier) @name) @definition.type
(method_declaration name: (identifier) @name body: (_)? @body) @definition.method
(constructor_declaration name: (identifier) @name body: (_)? @body) @definition.method
(destructor_declaration name: (identifier) @name body: (_)? @body) @definition.method
(local_function_statement name: (identifier) @name body: (_)? @body) @definition.function
(property_declaration name: (identifier) @name value: (arrow_expression_clause) @body) @definition.method
(property_declaration name: (identifier) @name
  accessors: (accessor_list (accessor_declaration body: (_))) @body) @definition.method
(indexer_declaration "this" @name accessors: (_)? @body) @definition.method

(field_declaration
  (modifier) @_modifier
  (variable_declaration (variable_declarator name: (identifier) @name))
  (#match? @_modifier "^(const|static)$")) @definition.constant

(comment) @comment

(compilation_unit (_) @split
  (#set! statements "declaration_list enum_member_declaration_list accessor_list block switch_body switch_section preproc_if preproc_elif preproc_else"))
(declaration_list (_) @split)
(enum_member_declaration_list (_) @split)
(accessor_list (_) @split)
(block (_) @split)
(switch_body (_) @split)
(switch_section (_) @split)
(initializer_expression (_) @split)
(argument_list (_) @split)
