(field_definition value: [(identifier) (member_expression)] @value)
