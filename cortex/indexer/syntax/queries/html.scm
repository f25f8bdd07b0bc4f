(script_element (start_tag) (raw_text) @embedded)
(style_element (start_tag) (raw_text) @embedded)

(comment) @comment

(element) @split
(script_element) @split
(style_element) @split
(start_tag) @split
