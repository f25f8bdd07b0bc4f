(argument_list (simple_symbol) @value)
(block_argument (simple_symbol) @value)
(pair value: (simple_symbol) @value)
; names that may call a method (function_values.py)
(_variable/identifier) @bare
