"""The Streamlit code between the library and the pages: drawing, caching, downloads."""
