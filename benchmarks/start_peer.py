"""A script that shows the heads of a Marian model in BertViz: translate, record the attention, write a page."""

import sys

import torch
from bertviz import model_view  # type: ignore[import-not-found]
from transformers import AutoTokenizer, MarianMTModel  # type: ignore[import-not-found]

folder, text, tokens, page = sys.argv[1:]
tokenizer = AutoTokenizer.from_pretrained(folder)
model = MarianMTModel.from_pretrained(folder, attn_implementation="eager").eval()
source = torch.tensor([[*tokenizer(text, add_special_tokens=False)["input_ids"], tokenizer.eos_token_id]])
count = int(tokens)  # fixed, since a model with random weights does not end its sentences
with torch.no_grad():
    ids = model.generate(source, num_beams=5, min_new_tokens=count, max_new_tokens=count)
    outputs = model(input_ids=source, decoder_input_ids=ids[:, :-1], output_attentions=True)
html = model_view(
    encoder_attention=outputs.encoder_attentions,
    decoder_attention=outputs.decoder_attentions,
    cross_attention=outputs.cross_attentions,
    encoder_tokens=tokenizer.convert_ids_to_tokens(source[0]),
    decoder_tokens=tokenizer.convert_ids_to_tokens(ids[0, :-1]),
    html_action="return",
)
with open(page, "w", encoding="utf-8") as file:
    file.write(html.data)
