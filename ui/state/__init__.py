"""State that outlives one run of a script: the view, the models, the queue, caches and jobs. It draws nothing."""
