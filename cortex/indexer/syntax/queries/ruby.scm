(call method: (identifier) @_require (#match? @_require "^(require|require_relative|load|autoload)$")) @import

(module name: (_) @name body: (_)? @body) @definition.module
(class name: (_) @name body: (_)? @body) @definition.class
(method name: (_) @name body: (_)? @body) @definition.function
(singleton_method name: (_) @name body: (_)? @body) @definition.method
(call method: (identifier) @_define arguments: (argument_list . (simple_symbol) @name) block: (_ body: (_) @body)
  (#any-of? @_define "define_method" "define_singleton_method")) @definition.method
(alias name: (identifier) @name) @definition.function

(program (assignment left: (constant) @name) @definition.constant)
(body_statement (assignment left: (constant) @name) @definition.constant)
(assignment left: (constant) @name right: (call
  receiver: (constant) @_struct method: (identifier) @_new block: (_) @body)
  (#match? @_struct "^(Struct|Class|Data|Module)$")) @definition.class

(comment) @comment

(program (_) @split
  (#set! statements "body_statement block_body then else begin do ensure case case_match"))
(body_statement (_) @split)
(block_body (_) @split)
(then (_) @split)
(else (_) @split)
(when) @split
(do_block) @split
(array (_) @split)
(hash (_) @split)
(argument_list (_) @split)
