(document (object (pair key: (string (string_content) @name)) @definition.constant))

(comment) @comment

(pair) @split
(array (_) @split)
(object) @split
