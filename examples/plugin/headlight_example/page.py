"""A page: how many tokens each model of this machine knows."""

import streamlit as st

import headlight
from headlight import folders
from headlight.plugins import Page


def draw() -> None:
    st.title("Vocabulary")
    name = st.selectbox("Model", folders.shipped())
    if name is not None:
        tokenizer = headlight.load(name).checkpoint.target_tokenizer
        st.metric("Tokens of the target", tokenizer.vocab_size)


PAGE = Page("Vocabulary", draw, ":material/dictionary:")
