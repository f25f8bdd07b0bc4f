(header module: (module) @package)
(import) @import

(data_type name: (_) @name) @definition.type
(newtype name: (_) @name) @definition.type
(type_synonym name: (_) @name) @definition.type
(type_family name: (_) @name) @definition.type
(class name: (_) @name declarations: (_)? @body) @definition.class
(instance name: (_) @name declarations: (_)) @container
(signature name: (_) @name) @definition.function
(declarations [
  (function name: (_) @name match: (_) @body)
  (bind name: (_) @name match: (_) @body)
] @definition.function)
(class_declarations [
  (function name: (_) @name match: (_) @body)
  (bind name: (_) @name match: (_) @body)
] @definition.function)
(instance_declarations [
  (function name: (_) @name match: (_) @body)
  (bind name: (_) @name match: (_) @body)
] @definition.function)

(comment) @comment
(haddock) @comment

(haskell (_) @split
  (#set! statements "class_declarations local_binds do alternatives"))
(imports (_) @split)
(declarations (_) @split)
(class_declarations (_) @split)
(instance_declarations (_) @split)
(function) @split
(match) @split
(local_binds (_) @split)
(alternative) @split
(do (_) @split)
(data_constructor) @split
(fields (_) @split)
(exports (_) @split)
