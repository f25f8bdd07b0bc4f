(public_field_definition value: [(identifier) (member_expression)] @value)
(as_expression . [(identifier) (member_expression)] @value)
(satisfies_expression . [(identifier) (member_expression)] @value)
(non_null_expression [(identifier) (member_expression)] @value)
[(arrow_function) (function_expression)] @function
