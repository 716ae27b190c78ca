"""A model, its tokenizer and the viewer as one page that needs no server: `headlight publish`.

`js/` has the network's forward pass, decoding and the tokenizers in plain JavaScript; the viewer's scripts draw.
"""
