(array_creation_expression . (array_element_initializer [(variable_name) (class_constant_access_expression)]) . (array_element_initializer [(string) (encapsed_string)]) .) @value
