"""The drawing library: plain JavaScript, its messages, and self-contained files.

It does not need Streamlit, so notebooks use it too.
"""
