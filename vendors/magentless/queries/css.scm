; Elements of CSS, and of Less as far as it is CSS.
(rule_set (selectors) @name) @element
(keyframes_statement (keyframes_name) @name) @element
[(media_statement) (at_rule)] @element
