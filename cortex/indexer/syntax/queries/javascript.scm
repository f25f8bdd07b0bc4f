(import_statement) @import
(call_expression function: (identifier) @require (#eq? @require "require")) @import

(function_declaration name: (identifier) @name body: (_) @body) @definition.function
(generator_function_declaration name: (identifier) @name body: (_) @body) @definition.function
(class_declaration name: (identifier) @name body: (_) @body) @definition.class
(method_definition name: (_) @name body: (_) @body) @definition.method
(field_definition property: (_) @name value: [(arrow_function body: (_) @body) (function_expression body: (_) @body)]) @definition.method

(program (lexical_declaration (variable_declarator name: (identifier) @name value: (_))) @definition.variable)
(program (variable_declaration (variable_declarator name: (identifier) @name value: (_))) @definition.variable)
(program (export_statement (lexical_declaration (variable_declarator name: (identifier) @name value: (_))) @definition.variable))
(lexical_declaration (variable_declarator name: (identifier) @name
  value: [(arrow_function body: (_) @body) (function_expression body: (_) @body)])) @definition.function
(variable_declaration (variable_declarator name: (identifier) @name
  value: [(arrow_function body: (_) @body) (function_expression body: (_) @body)])) @definition.function
(lexical_declaration (variable_declarator name: (identifier) @name value: (class body: (_) @body))) @definition.class
(pair key: (property_identifier) @name
  value: [(arrow_function body: (_) @body) (function_expression body: (_) @body)]) @definition.method
(arguments (function_expression name: (identifier) @name body: (_) @body) @definition.function)
(arguments (generator_function name: (identifier) @name body: (_) @body) @definition.function)
(export_statement "default" @name value: (_) @valued)
(assignment_expression left: (member_expression property: (property_identifier) @name) right: (_) @valued)

(comment) @comment
(decorator) @attach

(program (_) @split
  (#set! statements "statement_block class_body switch_body switch_case switch_default"))
(statement_block (_) @split)
(class_body (_) @split)
(object (_) @split)
(array (_) @split)
(arguments (_) @split)
(switch_body (_) @split)
(switch_case (_) @split)
(jsx_element (_) @split)
(export_statement (_) @split)
