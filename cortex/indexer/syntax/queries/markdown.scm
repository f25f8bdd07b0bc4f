(atx_heading) @heading
(setext_heading) @heading
(fenced_code_block) @fence
(html_block) @fence

(section (_) @split)
(list (_) @split)
(list_item (_) @split)
(block_quote (_) @split)
(pipe_table) @split
