"""One sentence for each setting: what it is for."""

from __future__ import annotations

# Fields of ModelConfig that follow from the tokenizer: the last ones say what stands around a sentence.
AROUND = ("pad_id", "sos_id", "eos_id", "source_start", "source_end", "target_start")
BY_TOKENIZER = ("source_vocab_size", "target_vocab_size", *AROUND)

HELP: dict[str, str] = {
    # ModelConfig
    "source_vocab_size": "How many different tokens the model can read.",
    "target_vocab_size": "How many different tokens the model can write.",
    "d_model": "How many numbers stand for a token on its way through the layers.",
    "encoder": "The stack of layers that reads the source sentence.",
    "decoder": "The stack of layers that writes the translation.",
    "norm": "Where each sublayer is normed: before it (pre), which trains steadily even without warm-up, or after it "
    "(post), as in the paper, which needs the warm-up.",
    "final_norm": "One more norm at the end of each stack, which a pre-norm network needs, since nothing else bounds "
    "what the layers have added up.",
    "norm_eps": "A small number that keeps the norms from dividing by zero.",
    "activation": "The function between the two maps of a feed-forward network.",
    "positions": "How a token is told where it stands: fixed sines and cosines, a learned vector each, a table "
    "stored with the weights to start from, or nothing.",
    "scale_embeddings": "Whether embeddings are multiplied by the root of d_model, or positions may drown them.",
    "embedding_norm": "Whether embedding and position together are normed before the first layer reads them.",
    "max_length": "The longest sentence in tokens, special ones included; longer pairs are left out.",
    "qkv_bias": "Whether the query, key and value projections add a learned constant.",
    "attention_output_bias": "Whether the projection that joins the heads adds a learned constant.",
    "logits_bias": "Whether the last projection adds a learned constant for each word.",
    "tied": "Which of the three vocabulary matrices are one and the same: fewer parameters, better on little data.",
    "dropout": "The share of numbers that are set to zero at random while training, so that the model does not learn "
    "the corpus by heart; small corpora need more.",
    "pad_id": "The token that fills up short sentences in a batch.",
    "sos_id": "The token with which every translation starts.",
    "eos_id": "The token with which every sentence ends.",
    "source_start": "Tokens that stand before every source, such as its language.",
    "source_end": "Tokens that stand after every source; the end of the sentence alone if not given.",
    "target_start": "Tokens with which every translation goes on after its start, such as its language.",
    # StackConfig
    "n_layers": "How many layers the stack has: each can build on what the one below found.",
    "n_heads": "How many attentions run side by side in a layer, each in its own share of d_model.",
    "d_ff": "How wide the feed-forward network is between its two maps.",
    # TrainConfig
    "steps": "How many updates the training makes.",
    "batch_tokens": "How many tokens an update sees at most, padding included: more make it steadier, and take memory.",
    "accumulate": "How many batches make one update: the same as a batch so many times larger, in the memory of one.",
    "learning_rate": "How far an update goes, at the peak of the schedule: too high and the loss explodes, too low and "
    "nothing is learned in time.",
    "schedule": "How the learning rate goes on after the warm-up: down with the root of the step (paper), straight "
    "down to zero at the last step (linear), or level (constant).",
    "warmup": "Updates over which the learning rate rises from zero, since the first gradients of a fresh network "
    "would throw it off.",
    "label_smoothing": "The share of the truth that is spread over all words, so that the model is never quite sure; "
    "the loss gets worse, the translations better.",
    "clip": "The longest gradient that is followed in full; longer ones are shortened to it, so one odd batch does "
    "little harm. 0 is off.",
    "scheduled_sampling": "In training the decoder reads the true words (teacher forcing), in use its own; this lets "
    "it read its own more and more: the share of true ones falls as 0.95^pass to 0.3.",
    "precision": "The numbers of the matrix products: float32 is exact; bfloat16 takes half the memory and is faster "
    "where the processor has it; float16 needs its loss scaled, which is done; auto chooses between the first two.",
    "evaluate_every": "After how many updates the validation pairs are scored and the watched sentences translated.",
    "checkpoint_every": "After how many updates a checkpoint is written, besides at each evaluation: what is lost at "
    "worst when the machine stops.",
    "patience": "Early stopping: how many evaluations without a better chrF end the training. 0 is off.",
    "snapshots": "How many small copies of the weights to keep, more of them early, to watch attention form.",
    "average": "Of how many of the last checkpoints the weights are kept, so that the model that is exported can be "
    "their mean, where that validates better than the best checkpoint. 0 is off.",
    "seed": "Where the random numbers start: the same seed gives the same run.",
    # Recipe
    "data": "The corpus to learn from.",
    "validation": "Another corpus to validate on; without one its own split, or one pair in a hundred held out.",
    "folder": "The folder in which Multi30k lies, if it is not to be downloaded.",
    "tokenizer": "How text is cut: into pieces that occur often (bpe), whole words, or characters.",
    "vocabulary": "The most tokens that a tokenizer may have.",
    "separate": "One vocabulary a side instead of one for both.",
    "vary": "The share of source sentences that are changed to what people type: no capital, no full stop, dont, curly "
    "quotes.",
    "watch": "A sentence that is translated at each evaluation.",
    "start": "A checkpoint whose weights and vocabulary the training starts from.",
    "threads": "Cores to use; all of them if not given.",
    "tensorboard": "Also write event files for TensorBoard into the run's folder.",
}
