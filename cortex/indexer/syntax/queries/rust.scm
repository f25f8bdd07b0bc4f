(use_declaration) @import
(extern_crate_declaration) @import

(function_item name: (identifier) @name body: (_) @body) @definition.function
(function_signature_item name: (identifier) @name) @definition.function
(struct_item name: (type_identifier) @name) @definition.struct
(union_item name: (type_identifier) @name) @definition.struct
(enum_item name: (type_identifier) @name) @definition.enum
(trait_item name: (type_identifier) @name body: (_) @body) @definition.trait
(type_item name: (type_identifier) @name) @definition.type
(mod_item name: (identifier) @name body: (_) @body) @definition.module
(macro_definition name: (identifier) @name) @definition.macro
(impl_item type: [
  (type_identifier) @name
  (generic_type type: (type_identifier) @name)
  (scoped_type_identifier name: (type_identifier) @name)
] body: (_)) @container

(const_item name: (identifier) @name) @definition.constant
(static_item name: (identifier) @name) @definition.variable

(line_comment) @comment
(block_comment) @comment
(attribute_item) @attach

(source_file (_) @split
  (#set! statements "declaration_list block match_block field_declaration_list enum_variant_list macro_definition"))
(declaration_list (_) @split)
(block (_) @split)
(match_block (_) @split)
(field_declaration_list (_) @split)
(enum_variant_list (_) @split)
(field_initializer_list (_) @split)
(array_expression (_) @split)
(arguments (_) @split)
(token_tree (token_tree) @split)
