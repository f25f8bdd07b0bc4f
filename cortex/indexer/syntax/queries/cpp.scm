(preproc_include) @import

(function_definition
  declarator: [
    (function_declarator declarator: [(identifier) (field_identifier) (operator_name) (destructor_name)] @name)
    (pointer_declarator declarator: (function_declarator declarator: [(identifier) (field_identifier)] @name))
    (reference_declarator (function_declarator declarator: [(identifier) (field_identifier) (operator_name)] @name))
  ]
  body: (_)? @body) @definition.function
; `(_ declarator: … parameters: …)`: no other node has these fields, and for a step without a kind
; tree-sitter does not compute the possible children.
(function_definition
  declarator: [
    (_ declarator: (_
      scope: (_) @scope
      name: [(identifier) (operator_name) (destructor_name)] @name) parameters: (_))
    (pointer_declarator declarator: (_ declarator: (_
      scope: (_) @scope
      name: (identifier) @name) parameters: (_)))
    (reference_declarator (_ declarator: (_
      scope: (_) @scope
      name: [(identifier) (operator_name)] @name) parameters: (_)))
  ]
  body: (_)? @body) @definition.method
(function_definition
  declarator: (_ declarator: (_
    scope: (_) @scope
    name: (_ scope: (_) @scope name: [(identifier) (operator_name) (destructor_name)] @name)) parameters: (_))
  body: (_)? @body) @definition.method
(declaration
  declarator: [
    (_ declarator: (identifier) @name parameters: (_))
    (pointer_declarator declarator: (_ declarator: (identifier) @name parameters: (_)))
    (reference_declarator (_ declarator: (identifier) @name parameters: (_)))
  ]) @definition.function
(field_declaration
  declarator: [
    (_ declarator: (field_identifier) @name parameters: (_))
    (pointer_declarator declarator: (_ declarator: (field_identifier) @name parameters: (_)))
    (reference_declarator (_ declarator: (field_identifier) @name parameters: (_)))
  ]) @definition.method

(class_specifier name: [(type_identifier) @name (template_type name: (type_identifier) @name)] body: (_) @body) @definition.class
(struct_specifier name: [(type_identifier) @name (template_type name: (type_identifier) @name)] body: (_) @body) @definition.struct
(union_specifier name: (type_identifier) @name body: (_) @body) @definition.struct
(enum_specifier name: (type_identifier) @name body: (_)) @definition.enum
(namespace_definition name: (_) @name body: (_)) @container
(type_definition declarator: (type_identifier) @name) @definition.type
(alias_declaration name: (type_identifier) @name) @definition.type
(concept_definition name: (identifier) @name) @definition.type

(preproc_def name: (identifier) @name value: (_)) @definition.constant
(preproc_function_def name: (identifier) @name) @definition.macro
(translation_unit (declaration declarator: (init_declarator declarator: [
  (identifier) @name
  (array_declarator declarator: (identifier) @name)
])) @definition.variable)
(namespace_definition body: (declaration_list (declaration declarator: (init_declarator declarator: [
  (identifier) @name
  (array_declarator declarator: (identifier) @name)
])) @definition.variable))

(comment) @comment

(translation_unit (_) @split
  (#set! statements "declaration_list compound_statement field_declaration_list enumerator_list case_statement preproc_if preproc_ifdef preproc_elif preproc_else"))
(declaration_list (_) @split)
(compound_statement (_) @split)
(field_declaration_list (_) @split)
(enumerator_list (_) @split)
(initializer_list (_) @split)
(argument_list (_) @split)
(case_statement (_) @split)
(preproc_if (_) @split)
(preproc_ifdef (_) @split)
(template_declaration (_) @split)
