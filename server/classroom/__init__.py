"""A class that answers a lesson's questions together: its store, its rules, and the service for pupils' browsers.

`classes.py` has the rules and works on one of two stores, `sqlite.py` or `shared.py` (Redis); `routes.py` has what
pupils can reach. Of the library it uses only the grading of guesses; it does not use Streamlit.
"""
