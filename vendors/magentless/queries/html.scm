; Elements of HTML, Vue and Svelte: tags, three deep.
(document [(element) (script_element) (style_element)] @element)
(document (element (element) @element))
(document (element (element (element) @element)))
