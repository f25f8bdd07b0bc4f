(jsx_opening_element name: [(identifier) (member_expression)] @jsx)
(jsx_self_closing_element name: [(identifier) (member_expression)] @jsx)
