"""The viewer as a web application over the files of `data/`, with server-side pages and little script.

    guard                     access control: host, origin, token, content security policy
    app                       the application: reading, rating, deciding, exporting
    asks                      models that are asked from a page, one after another
    serve                     serving it on a port

It uses Flask: one thread per request suits files under locks, templates are the report floor's Jinja, and there is no
build step and no second language. Waitress, a server in pure Python, runs it.

Templates are the `.html.j2` files; `viewer.css` extends the report's styles; `viewer.js` handles drafts and keys.
"""
