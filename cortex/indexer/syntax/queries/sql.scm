(create_table (object_reference name: (identifier) @name)) @definition.struct
(create_view (object_reference name: (identifier) @name)) @definition.type
(create_materialized_view (object_reference name: (identifier) @name)) @definition.type
(create_type (object_reference name: (identifier) @name)) @definition.type
(create_type (object_reference name: (identifier) @name) (enum_elements)) @definition.enum
(create_function (object_reference name: (identifier) @name) (function_body)? @body) @definition.function
(create_trigger (object_reference name: (identifier) @name)) @definition.function
(create_index column: (identifier) @name) @definition.variable
(create_sequence (object_reference name: (identifier) @name)) @definition.variable

(comment) @comment
(marginalia) @comment

(program (_) @split
  (#set! statements "function_body column_definitions"))
(column_definitions (_) @split)
(create_query (_) @split)
(from (_) @split)
(function_body (_) @split)
(list (_) @split)
(insert (list) @split)
