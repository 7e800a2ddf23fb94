; JSX elements with the names of their tags, which the grammar lets differ; fragments have none.
(jsx_element
  open_tag: (jsx_opening_element name: (_)? @opened)
  close_tag: (jsx_closing_element name: (_)? @closed))
