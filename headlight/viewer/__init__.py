"""The drawing library: plain JavaScript, what it is sent, and files that need nothing else. Without Streamlit, so that
a notebook has it as well as the app."""
