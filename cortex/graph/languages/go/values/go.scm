(argument_list [(identifier) (selector_expression)] @value)
(literal_element [(identifier) (selector_expression)] @value)
(short_var_declaration right: (expression_list [(identifier) (selector_expression)] @value))
(assignment_statement right: (expression_list [(identifier) (selector_expression)] @value))
(var_spec value: (expression_list [(identifier) (selector_expression)] @value))
(return_statement (expression_list [(identifier) (selector_expression)] @value))
(send_statement value: [(identifier) (selector_expression)] @value)
(func_literal) @function
