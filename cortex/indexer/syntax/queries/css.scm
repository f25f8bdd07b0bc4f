(import_statement) @import

(rule_set (selectors [(class_selector) (id_selector) (descendant_selector) (child_selector) (pseudo_class_selector)] @name) (block) @body) @definition.type
(keyframes_statement (keyframes_name) @name) @definition.function
(declaration (property_name) @name (#match? @name "^--")) @definition.variable

(comment) @comment

(stylesheet (_) @split
  (#set! statements "block keyframe_block_list"))
(block (_) @split)
(keyframe_block_list (_) @split)
(selectors (_) @split)
