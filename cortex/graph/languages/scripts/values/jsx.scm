(jsx_expression [(identifier) (member_expression)] @value)
