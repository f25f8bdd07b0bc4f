(method_reference) @value
(lambda_expression) @function
