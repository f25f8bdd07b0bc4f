(callable_reference) @value
((navigation_expression "::") @value)
