"""A sentence of help for each setting."""

from __future__ import annotations

# Fields of ModelConfig that follow from the tokenizer and the framing, or from the checkpoint that a training starts
# from.
SEQUENCE_FIELDS = ("pad_id", "sos_id", "eos_id", "source_start", "source_end", "target_start")
DERIVED_FIELDS = (
    *("source_vocab_size", "target_vocab_size", *SEQUENCE_FIELDS),
    *("pruned_heads", "decoder_embedding_norm", "output_transform"),
)

SETTING_HELP: dict[str, str] = {
    # ModelConfig
    "source_vocab_size": "How many different tokens the model can read.",
    "target_vocab_size": "How many different tokens the model can write.",
    "d_model": "The length of the vector that stands for a token in every layer.",
    "encoder": "The stack of layers that reads the source sentence.",
    "decoder": "The stack of layers that writes the translation.",
    "norm": "Where layer norm stands: before each sublayer (pre), which trains stably even without warm-up, or after "
    "it (post), as in the paper, which needs the warm-up.",
    "final_norm": "One more layer norm at the end of each stack. A pre-norm network needs it, since nothing else "
    "bounds what the layers have added up.",
    "norm_eps": "A small number that keeps layer norm from dividing by zero.",
    "activation": "The function between the two linear maps of a feed-forward network; with none they are one map.",
    "positions": "How the model knows a token's position: fixed sines and cosines, the same with a tutorial's mistake "
    "(no-exp), a learned vector each, a table stored with the weights to start from, or nothing.",
    "scale_embeddings": "Whether embeddings are multiplied by √d_model, so that the positional encodings do not drown "
    "them.",
    "embedding_norm": "Whether layer norm is applied to the sum of embedding and positional encoding.",
    "decoder_embedding_norm": "Whether that layer norm is in the decoder too.",
    "output_transform": "Whether a linear layer, the activation and a layer norm stand before the output, as in BERT.",
    "max_length": "The longest sentence in tokens, including special tokens; longer pairs are left out.",
    "qkv_bias": "Whether the query, key and value projections add a learned constant.",
    "attention_output_bias": "Whether the projection that joins the heads adds a learned constant.",
    "logits_bias": "Whether the last projection adds a learned constant for each token.",
    "tied": "Which embedding and output matrices are tied: fewer parameters, better on little data.",
    "attention_dropout": "The share of attention weights set to zero at random during training; none in the paper.",
    "activation_dropout": "The share of the feed-forward network's inner activations set to zero at random during "
    "training; none in the paper.",
    "residual": "Whether each sublayer adds to what it reads, as in the paper, or replaces it.",
    "dropout_after_sum": "Whether dropout is on the sum of the residual connection, so that the residual stream loses "
    "numbers too, and not on what the sublayer adds, as in the paper.",
    "norm_form": "Standard layer norm, or as tutorials write it: by the unbiased deviation (over n − 1 numbers), and "
    "if scalar, with one gain and bias for all dimensions. None leaves out all norms of the layers.",
    "position_base": "The base of the sinusoidal positions' wavelengths: 10,000 in the paper.",
    "initialisation": "How weights begin. Scaled: Xavier, and embeddings with variance 1 once they are multiplied by "
    "√d_model. Xavier: every matrix. Torch: PyTorch's own, whose embeddings are √d_model times as large.",
    "dropout": "The share of activations set to zero at random during training, so that the model does not learn the "
    "corpus by heart; small corpora need more.",
    "pad_id": "The token that fills up short sentences in a batch.",
    "sos_id": "The token with which every translation starts.",
    "eos_id": "The token with which every sentence ends.",
    "source_start": "Tokens that stand before every source, such as its language.",
    "source_end": "Tokens that stand after every source; only [EOS] if not given.",
    "target_start": "Tokens that follow the start of every translation, such as its language.",
    "padding_mask": "Whether padding is hidden from attention. Never is a mistake: a sentence then depends on how long "
    "the others of its batch are.",
    "look_ahead_mask": "Whether the decoder's attention hides the words still to be written. Never is a mistake: the "
    "model copies them in training and can write nothing.",
    "pruned_heads": "Heads that were removed from the network after its training.",
    # StackConfig
    "n_layers": "How many layers the stack has: each builds on the output of the one below.",
    "n_heads": "How many heads run side by side in each attention, each on d_model / heads dimensions.",
    "d_ff": "The width of the feed-forward network between its two linear maps.",
    # TrainConfig
    "steps": "The number of training steps: updates of the weights.",
    "batch_tokens": "The most tokens in a batch, padding included: more make the gradient less noisy, and take memory.",
    "accumulate": "How many batches make one step: acts like a batch N times larger, in the memory of one.",
    "learning_rate": "The size of a step at the peak of the schedule: too high and the loss explodes, too low and "
    "nothing is learned in time.",
    "schedule": "The learning rate after the warm-up: falling with the inverse square root of the step (paper), "
    "straight down to zero at the last step (linear), or constant.",
    "warmup": "Steps over which the learning rate rises from zero, since the first gradients of an untrained network "
    "would lead it astray.",
    "label_smoothing": "The share ε of the target probability that is spread over all V tokens, ε/V each (not "
    "ε/(V − 1) to each wrong one), so that the model stays less certain; the loss gets worse, the translations better.",
    "clip": "Gradient clipping: the largest norm of a gradient; larger ones are scaled down to it, so one odd batch "
    "does little harm. 0 is off.",
    "scheduled_sampling": "Lets the decoder read its own output in training, not only the reference, whose share falls "
    "as 0.95^epoch to 0.3. Parallel predicts in one pass over the whole target, prefix each token from those before.",
    "adam_beta2": "Adam's second decay: over how many steps it averages squared gradients, about 1 / (1 − β₂). The "
    "paper has 0.98, PyTorch's default is 0.999.",
    "adam_eps": "What Adam adds to the root of the squared gradients: 1e-9 in the paper, 1e-8 in PyTorch.",
    "padding_in_loss": "Whether padding counts as tokens to predict. Usually not: predicting it is easy, so the loss "
    "looks better than it is.",
    "precision": "The number format of matrix products: float32 is the most precise; bfloat16 takes half the memory "
    "and is faster where the processor supports it; float16 scales its loss; auto chooses between the first two.",
    "evaluate_every": "After how many steps the validation pairs are scored and the watched sentences translated.",
    "checkpoint_every": "After how many steps a checkpoint is saved, in addition to each evaluation: the most that is "
    "lost when the machine stops.",
    "patience": "Early stopping: the training ends after this many evaluations without a better chrF. 0 is off.",
    "snapshots": "How many snapshots of the weights to keep, more of them early, to watch attention form.",
    "average": "Checkpoint averaging: how many of the last checkpoints to keep, so that the exported model can be "
    "their mean, where that scores better on validation than the best checkpoint. 0 is off.",
    "seed": "The start of the random numbers: the same seed gives the same run.",
    # Recipe
    "data": "The corpus to learn from.",
    "framing": "The special tokens around a pair. Usual: an end after the source, a start and an end around the "
    "target. Both: a start before the source too. None is a mistake: the model learns neither how to begin nor where "
    "to end.",
    "validation": "Another corpus to validate on, or train for the pairs that are trained on; without one, the corpus' "
    "own split, or one pair in a hundred held out, and none of fewer than 50.",
    "folder": "The folder of Multi30k, if it should not be downloaded.",
    "tokenizer": "How text is split into tokens: frequent pieces (bpe), whole words, or characters.",
    "vocabulary": "The largest number of tokens in a vocabulary.",
    "separate": "One vocabulary for each side instead of one for both.",
    "min_frequency": "How often a word, or a merge of bpe, has to occur to be in the vocabulary. 0 is by the corpus: "
    "once among fewer than 1,000 pairs, twice among more.",
    "max_characters": "Pairs with a side of more characters are left out.",
    "max_tokens": "Pairs with a side of more tokens are left out, special tokens included. 0 is as many as the model "
    "reads.",
    "vary": "The share of source sentences changed to how people type: no capital, no full stop, dont, curly quotes.",
    "slots": "The share of pairs with names or numbers in which these are replaced by others on both sides, so that "
    "the model learns to copy them. The names are in names.tsv of the folder HEADLIGHT_EVERYDAY.",
    "watch": "A sentence that is translated at each evaluation.",
    "start": "A checkpoint folder, or a model that ships such as en-fr, from whose weights and vocabulary the "
    "training starts.",
    "threads": "Processor cores to use; all if not given.",
    "broken": "A mistake of a tutorial, or a part left out, on purpose, to see what it does; the model's card says so.",
    "tensorboard": "Also write event files for TensorBoard into the run's folder.",
}
