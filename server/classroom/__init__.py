"""A class that answers a lesson's questions together: its store, its rules, and the service that pupils' browsers ask.

`classes.py` has the rules and stands on one store, `sqlite.py` or `shared.py` (Redis);
`routes.py` is what pupils reach. Of the library it needs what judges a guess, and nothing of Streamlit.
"""
