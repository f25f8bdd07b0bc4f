(call target: (identifier) @_use (#match? @_use "^(import|alias|require|use)$")) @import

(call target: (identifier) @_module
  (arguments . (alias) @name) (do_block) @body
  (#eq? @_module "defmodule")) @definition.module
(call target: (identifier) @_protocol
  (arguments . (alias) @name) (do_block) @body
  (#eq? @_protocol "defprotocol")) @definition.interface
(call target: (identifier) @_impl
  (arguments . (alias) @name) (do_block)
  (#eq? @_impl "defimpl")) @container
(call target: (identifier) @_def
  (arguments . [
    (identifier) @name
    (call target: (identifier) @name)
    (binary_operator left: [(identifier) @name (call target: (identifier) @name)] operator: "when")
  ])
  (do_block)? @body
  (#match? @_def "^(def|defp|defdelegate|defguard|defguardp)$")) @definition.function
(call target: (identifier) @_macro
  (arguments . [
    (identifier) @name
    (call target: (identifier) @name)
    (binary_operator left: [(identifier) @name (call target: (identifier) @name)] operator: "when")
  ])
  (do_block)? @body
  (#match? @_macro "^(defmacro|defmacrop)$")) @definition.macro
(unary_operator operand: (call target: (identifier) @_type
  (arguments (binary_operator left: [(identifier) @name (call target: (identifier) @name)])))
  (#match? @_type "^(type|typep|opaque)$")) @definition.type
(unary_operator operand: (call target: (identifier) @name (arguments))
  (#not-match? @name "^(doc|moduledoc|typedoc|spec|impl|type|typep|opaque|callback|macrocallback|behaviour|deprecated|derive|dialyzer|compile|on_load|before_compile|after_compile|external_resource|tag|moduletag|describetag|since|optional_callbacks)$")) @definition.constant
(unary_operator operand: (call target: (identifier) @_callback
  (arguments (binary_operator left: (call target: (identifier) @name))))
  (#match? @_callback "^(callback|macrocallback)$")) @definition.method

(comment) @comment
(unary_operator operand: (call target: (identifier) @_doc (arguments [(string) (sigil)]))
  (#match? @_doc "^(doc|typedoc)$")) @comment
(unary_operator operand: (call target: (identifier) @_moduledoc (arguments [(string) (sigil)]))
  (#eq? @_moduledoc "moduledoc")) @doc
(unary_operator operand: (call target: (identifier) @_attribute)
  (#match? @_attribute "^(spec|impl|deprecated)$")) @attach

(source (_) @split
  (#set! statements "do_block else_block rescue_block catch_block after_block body"))
(do_block (_) @split)
(stab_clause) @split
(else_block (_) @split)
(map_content (_) @split)
(keywords (_) @split)
(list (_) @split)
(arguments (_) @split)
