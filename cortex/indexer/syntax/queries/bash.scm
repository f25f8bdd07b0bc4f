(command name: (command_name (word) @_source) (#match? @_source "^(source|\\.)$")) @import

(function_definition name: (word) @name body: (_) @body) @definition.function
(program (variable_assignment name: (variable_name) @name) @definition.variable)
(program (declaration_command (variable_assignment name: (variable_name) @name)) @definition.variable)
(command name: (command_name (word) @_alias)
  argument: (concatenation . (word) @name)
  (#eq? @_alias "alias")) @definition.variable

(comment) @comment

(program (_) @split
  (#set! statements "compound_statement do_group subshell if_statement elif_clause else_clause case_statement case_item"))
(compound_statement (_) @split)
(do_group (_) @split)
(subshell (_) @split)
(if_statement [(elif_clause) (else_clause)] @split)
(if_statement (_) @split)
(case_statement (_) @split)
(case_item (_) @split)
(pipeline (_) @split)
(array (_) @split)
