(class_declaration name: (_) @name) @def.class
(function_declaration name: (_) @name) @def.function
(generator_function_declaration name: (_) @name) @def.function
(class_body (method_definition name: (_) @name) @def.method)
(variable_declarator name: (identifier) @name value: [(arrow_function) (function_expression) (generator_function)]) @def.function
(variable_declarator name: (identifier) @name value: (class)) @def.class
(program (lexical_declaration (variable_declarator name: (identifier) @name) @def.constant))
(program (export_statement (lexical_declaration (variable_declarator name: (identifier) @name) @def.constant)))
(program (lexical_declaration (variable_declarator name: (object_pattern [(shorthand_property_identifier_pattern) @name (pair_pattern value: (identifier) @name) (object_assignment_pattern left: (shorthand_property_identifier_pattern) @name)])) @def.constant))
(program (export_statement (lexical_declaration (variable_declarator name: (object_pattern [(shorthand_property_identifier_pattern) @name (pair_pattern value: (identifier) @name) (object_assignment_pattern left: (shorthand_property_identifier_pattern) @name)])) @def.constant)))
(return_statement (function_expression name: (identifier) @name) @def.function)
(export_statement "default" @name value: [(arrow_function) (function_expression) (generator_function)]) @def.function
(export_statement "default" @name value: (class)) @def.class
(class) @class_value
(arguments [(function_expression name: (identifier) @name) (generator_function name: (identifier) @name)] @def.argument) @_in
(assignment_expression left: (member_expression property: (_) @name)
  right: [(arrow_function) (function_expression) (generator_function) (class)]) @def.assigned
(pair key: (_) @name value: [(arrow_function) (function_expression) (generator_function)]) @def.member
(object (method_definition name: (_) @name) @def.member)
(variable_declarator name: (identifier) value: (object) @container)
(export_statement value: (ternary_expression (object) @container))
(program (_ (variable_declarator value: (ternary_expression (object) @container))))
(assignment_expression left: (member_expression) right: (object) @container)
(export_statement value: (object) @container)
(return_statement (object) @container)
(arrow_function body: (parenthesized_expression (object) @container))
(call_expression function: (member_expression object: (identifier) property: (property_identifier) @_assign)
  arguments: (arguments . (_) (object) @container) (#any-of? @_assign "assign" "extend"))

(return_statement (_) @return.value)
(arrow_function body: [(identifier) (call_expression) (new_expression) (member_expression) (await_expression)] @return.value)

(arrow_function parameter: (identifier) @param.name)

(variable_declarator name: (object_pattern (shorthand_property_identifier_pattern) @bind.name))
(variable_declarator name: (object_pattern (pair_pattern value: (identifier) @bind.name)))
(variable_declarator name: (object_pattern (object_assignment_pattern left: (shorthand_property_identifier_pattern) @bind.name)))
(variable_declarator name: (array_pattern (identifier) @bind.name))
(assignment_expression left: (identifier) @bind.name right: (_) @bind.value)
(assignment_expression left: (member_expression) @bind.name right: (_) @bind.value)
(for_in_statement left: (identifier) @bind.name operator: "of" right: (_) @bind.item)
(catch_clause parameter: (identifier) @bind.name)

(if_statement condition: (parenthesized_expression (_ left: [(identifier) (member_expression object: (this))] @narrow operator: "instanceof" right: (_) @narrow.type)) consequence: (_) @narrow.block)
(if_statement condition: (parenthesized_expression (unary_expression operator: "!" argument: (parenthesized_expression (_ left: [(identifier) (member_expression object: (this))] @narrow operator: "instanceof" right: (_) @narrow.type))))
  consequence: [(return_statement) (throw_statement) (statement_block [(return_statement) (throw_statement)] .)] @narrow.after !alternative)
(binary_expression left: (_ left: [(identifier) (member_expression object: (this))] @narrow operator: "instanceof" right: (_) @narrow.type) operator: "&&" right: (_) @narrow.block)
(ternary_expression condition: (_ left: [(identifier) (member_expression object: (this))] @narrow operator: "instanceof" right: (_) @narrow.type) consequence: (_) @narrow.block)

(statement_block) @block
(arrow_function) @block
(function_expression) @block
(generator_function) @block
(for_statement) @block
(for_in_statement) @block
(catch_clause) @block
(object (method_definition) @block)

(call_expression function: (_) @callee) @call
(new_expression constructor: (_) @callee) @call
(decorator [(identifier) (member_expression)] @callee) @call
(import_statement) @import
(export_statement) @import
