(class name: (_) @name) @def.class
(module name: (_) @name) @def.trait
(method name: (_) @name) @def.function
(singleton_method name: (_) @name) @def.function
(call method: (identifier) @_define arguments: (argument_list . (simple_symbol) @name) block: (_) (#any-of? @_define "define_method" "define_singleton_method")) @def.function
(call method: (identifier) @_attr arguments: (argument_list [(simple_symbol) (string)] @def.attribute @name) (#any-of? @_attr "attr_reader" "attr_writer" "attr_accessor"))
(call !receiver method: (identifier) @_attr arguments: (argument_list . [(simple_symbol) (string)] @def.attribute @name) (#any-of? @_attr "scope" "has_many" "has_one" "belongs_to" "has_and_belongs_to_many" "enum" "attribute"))
(call !receiver method: (identifier) @_attr arguments: (argument_list . (pair key: (hash_key_symbol) @def.attribute @name)) (#eq? @_attr "enum"))
(assignment left: (constant) @name right: (call receiver: (constant) @_maker method: (identifier) @_new) (#any-of? @_maker "Struct" "Class" "Data") (#any-of? @_new "new" "define")) @def.class
(assignment left: (constant) @name right: (call receiver: [(constant) (scope_resolution)] @_maker method: (identifier) @_new block: (_ body: (_ [(method) (singleton_method)]))) (#not-any-of? @_maker "Struct" "Class" "Data" "Module") (#eq? @_new "new")) @def.class
(assignment left: (constant) right: (call receiver: [(constant) (scope_resolution)] @base.extends @_maker method: (identifier) @_new block: (_ body: (_ [(method) (singleton_method)]))) (#not-any-of? @_maker "Struct" "Class" "Data" "Module") (#eq? @_new "new"))
(assignment left: (identifier) @name right: (call receiver: (constant) @_maker method: (identifier) @_new [block: (_) arguments: (_)]) (#eq? @_maker "Class") (#eq? @_new "new")) @def.class
(assignment left: [(constant) (identifier)] @name right: (call receiver: (constant) @_maker method: (identifier) @_new block: (_)) (#eq? @_maker "Module") (#eq? @_new "new")) @def.trait
(assignment left: [(constant) (identifier)] right: (call !block receiver: (constant) @_maker method: (identifier) @_new arguments: (argument_list . [(constant) (scope_resolution) (identifier) (call)] @base.extends)) (#eq? @_maker "Class") (#eq? @_new "new"))
(call receiver: (constant) @_maker method: (identifier) @_new arguments: (argument_list . [(constant) (scope_resolution) (identifier) (self) (call)] @base.extends) block: (_) (#eq? @_maker "Class") (#eq? @_new "new"))
(call receiver: (constant) @_maker @name method: (identifier) @_new block: (_) (#any-of? @_maker "Struct" "Class" "Data") (#any-of? @_new "new" "define")) @def.anonymous
([(heredoc_body) (call method: (identifier) @_define arguments: (argument_list . [(delimited_symbol) (string) (identifier)]) block: (_) (#any-of? @_define "define_method" "define_singleton_method"))] @template)
(alias name: (_) @name alias: (_) @alias.of) @def.alias
(call method: (identifier) @_alias arguments: (argument_list . [(simple_symbol) (string)] @def.alias @name . [(simple_symbol) (string)] @alias.of .) (#eq? @_alias "alias_method"))

(superclass (_) @base.extends)
(call method: (identifier) @include arguments: (argument_list [(constant) (scope_resolution)] @base.embeds) (#any-of? @include "include" "extend" "prepend"))
(call method: (identifier) @_send arguments: (argument_list . (simple_symbol) @_include [(constant) (scope_resolution)] @base.embeds) (#any-of? @_send "send" "public_send" "__send__") (#any-of? @_include ":include" ":extend" ":prepend"))
(method body: (body_statement (_) @return.value .))
(singleton_method body: (body_statement (_) @return.value .))
(_ "def" "=" body: (_) @return.value)
(return (argument_list . (_) @return.value .))
(yield (argument_list . (_) @yielded))
(call receiver: (identifier) @_block method: (identifier) @_call arguments: (argument_list . (_) @yielded) (#any-of? @_block "block" "blk") (#any-of? @_call "call" "yield"))
(call method: (_) arguments: (argument_list (block_argument (identifier)))) @passing
(method_parameters (identifier) @param.name)
(method_parameters (optional_parameter name: (_) @param.name))
(method_parameters (keyword_parameter name: (_) @param.name))
(method_parameters [(splat_parameter) (hash_splat_parameter) (forward_parameter)] @param.type)
(method_parameters [(optional_parameter name: (_) @param.name value: (call) @param.value) (keyword_parameter name: (_) @param.name value: (call) @param.value)])
([(block_parameters (identifier) @bind.name) (lambda_parameters (identifier) @bind.name) (destructured_parameter (identifier) @bind.name)])
(block_parameters [(optional_parameter name: (_) @bind.name) (keyword_parameter name: (_) @bind.name)])
(lambda_parameters [(optional_parameter name: (_) @bind.name) (keyword_parameter name: (_) @bind.name)])
([(splat_parameter name: (_) @bind.name) (hash_splat_parameter name: (_) @bind.name) (block_parameter name: (_) @bind.name)])
([(left_assignment_list (identifier) @bind.name) (destructured_left_assignment (identifier) @bind.name) (rest_assignment (identifier) @bind.name)])
([(for pattern: (identifier) @bind.name) (exception_variable (identifier) @bind.name)])
([(in_clause pattern: (identifier) @bind.name) (array_pattern (identifier) @bind.name) (keyword_pattern value: (identifier) @bind.name) (as_pattern name: (identifier) @bind.name)])
(assignment left: (identifier) @bind.name right: (_) @bind.value)
(assignment left: [(instance_variable) (class_variable)] @bind.name right: (_) @bind.value)
(operator_assignment left: [(identifier) (instance_variable) (class_variable)] @bind.name right: (_) @bind.value)
(assignment left: [(constant) (scope_resolution)] @bind.name right: (_) @bind.value)
(call method: (identifier) @_stub arguments: (argument_list . (string . (string_content) @bind.name .) . (call) @bind.value) (#eq? @_stub "stub_const"))
(call method: (identifier) @_let arguments: (argument_list . (simple_symbol) @bind.name) block: (_ body: (_ (_) @bind.value .)) (#any-of? @_let "let" "let!" "subject" "subject!"))
(call method: (identifier) @bind.name !receiver !arguments block: (_ body: (_ (_) @bind.value .)) (#eq? @bind.name "subject"))
(call method: (identifier) @_describe arguments: (argument_list . [(constant) (scope_resolution)] @described) block: (_) (#any-of? @_describe "describe" "context"))

(binary left: [(instance_variable) (identifier)] @listed operator: "<<")
(_ receiver: [(instance_variable) (identifier)] @listed method: (identifier) @_push arguments: (_) (#any-of? @_push "push" "append" "unshift" "add"))
(_ left: (element_reference object: [(instance_variable) (identifier)] @listed) right: (_))
(call receiver: [(constant) (scope_resolution)] block: (_ !parameters) @evaluated)
(call receiver: (_) method: (identifier) @_eval block: (_ !parameters) @evaluated (#any-of? @_eval "instance_eval" "instance_exec"))
(call method: (identifier) block: (_ !parameters)) @run
(_ left: (call receiver: (self)) @assigned right: (_))
(_ condition: (call receiver: [(identifier) (instance_variable)] @narrow method: (identifier) @_is_a arguments: (argument_list . [(constant) (scope_resolution)] @narrow.type .)) consequence: (_) @narrow.block (#any-of? @_is_a "is_a?" "kind_of?" "instance_of?"))
(case value: [(identifier) (instance_variable)] @narrow (when . pattern: (pattern [(constant) (scope_resolution)] @narrow.type) . body: (_) @narrow.block))

([(block) (do_block) (lambda)] @block)

(call) @call @callee
(super) @call @callee
(call method: (identifier) @require (#any-of? @require "require" "require_relative" "require_dependency" "require_all")) @import
(call method: (identifier) @_delegate arguments: (argument_list [(simple_symbol) (string)] @delegated (pair key: (hash_key_symbol) @_to value: [(simple_symbol) (string)] @delegated.to)) (#eq? @_delegate "delegate") (#eq? @_to "to"))
(call method: (identifier) @_delegate arguments: (argument_list . [(simple_symbol) (string)] @delegated.to [(simple_symbol) (string)] @delegated) (#any-of? @_delegate "def_delegator" "def_delegators" "def_instance_delegator" "def_instance_delegators"))
([(binary) (element_reference)] @operator)
