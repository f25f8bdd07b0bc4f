(method_reference) @value
