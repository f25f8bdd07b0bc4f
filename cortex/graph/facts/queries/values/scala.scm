(arguments [(identifier) (field_expression)] @value)
(method_value (identifier) @value)
