(argument_list (simple_symbol) @value)
(block_argument (simple_symbol) @value)
