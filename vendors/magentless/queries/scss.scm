; Elements of SCSS.
(rule_set (selectors) @name) @element
(mixin_statement (identifier) @name) @element
(function_statement (identifier) @name) @element
(keyframes_statement (keyframes_name) @name) @element
(media_statement) @element
