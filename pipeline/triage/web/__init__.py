"""The viewer as a web application over the files of `data/`: pages made here, little script, one place that writes.

    guard                     who may ask: host, origin, token, the policy of every answer
    app                       the application: reading, rating, deciding, exporting
    asks                      models that are asked from a page, one after the other
    serve                     it on a port

Flask serves it: one thread a request fits files under locks, its templates are the report floor's Jinja, and it
needs no build step and no second language. Waitress runs it: a server in plain Python that runs everywhere.

Templates are the `.html.j2` files, `viewer.css` is the look beside the report's, `viewer.js` drafts and keys.
"""
