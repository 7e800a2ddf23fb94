; Elements of JavaScript and TypeScript: declarations wherever they are.
[
  (function_declaration name: (_) @name)
  (generator_function_declaration name: (_) @name)
  (class_declaration name: (_) @name)
  (abstract_class_declaration name: (_) @name)
  (interface_declaration name: (_) @name)
  (type_alias_declaration name: (_) @name)
  (enum_declaration name: (_) @name)
  (method_definition name: (_) @name)
] @element

; Values at the top of a file.
(program [
  (lexical_declaration (variable_declarator name: (_) @name) @element)
  (variable_declaration (variable_declarator name: (_) @name) @element)
])
(program (export_statement [
  (lexical_declaration (variable_declarator name: (_) @name) @element)
  (variable_declaration (variable_declarator name: (_) @name) @element)
]))

; Further in, values that are functions, or calls that are given one: useCallback(() => …).
(variable_declarator
  name: (identifier) @name
  value: [
    (arrow_function) (function_expression) (generator_function) (class)
    (call_expression arguments: (arguments [(arrow_function) (function_expression)]))
  ]) @element
(public_field_definition name: (_) @name value: [(arrow_function) (function_expression)]) @element

; What is exported without a name of its own.
(export_statement "default" @name value: (_)) @element
