(function_definition declarator: (function_declarator declarator: (identifier) @name)) @def.function
(function_definition declarator: (pointer_declarator declarator: (function_declarator declarator: (identifier) @name))) @def.function
(function_definition declarator: (pointer_declarator declarator: (pointer_declarator declarator: (function_declarator declarator: (identifier) @name)))) @def.function
(struct_specifier name: (_) @name body: (_)) @def.struct
(union_specifier name: (_) @name body: (_)) @def.struct
(enum_specifier name: (_) @name body: (_)) @def.type
(type_definition declarator: (type_identifier) @name) @def.type
(preproc_function_def name: (_) @name) @def.macro
(preproc_def name: (_) @name value: (_)) @def.constant
(preproc_def name: (_) @bind.name value: (_) @bind.value (#match? @bind.value "^[A-Za-z_][A-Za-z0-9_]*[ \\t]*$"))
(preproc_def value: (_) @spaces (#match? @spaces "\\bnamespace[ \\t]+[A-Za-z_]"))
(preproc_params (identifier) @param.name)
(preproc_function_def value: (_) @macro.body)

(function_definition type: (_) @returns)
(parameter_declaration type: (_) @param.type declarator: [(identifier) @param.name (pointer_declarator (identifier) @param.name) (pointer_declarator (pointer_declarator (identifier) @param.name)) (array_declarator declarator: (identifier) @param.name)])
(field_declaration type: (_) @bind.type declarator: [(field_identifier) @bind.name (pointer_declarator (field_identifier) @bind.name) (array_declarator declarator: (field_identifier) @bind.name)])
(declaration type: (_) @bind.type declarator: [(identifier) @bind.name (pointer_declarator (identifier) @bind.name) (array_declarator declarator: (identifier) @bind.name)
  (init_declarator declarator: (identifier) @bind.name) (init_declarator declarator: (pointer_declarator (identifier) @bind.name))])

(compound_statement) @block
(for_statement) @block

(call_expression function: (_) @callee) @call
(type_identifier) @type
(preproc_include) @import
