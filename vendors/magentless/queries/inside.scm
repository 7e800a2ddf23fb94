; Scripts and styles inside HTML, Vue and Svelte, and the values of their attributes.
(script_element
  (start_tag (attribute (quoted_attribute_value (attribute_value) @value))*)
  (raw_text) @text) @element
(style_element
  (start_tag (attribute (quoted_attribute_value (attribute_value) @value))*)
  (raw_text) @text) @element
