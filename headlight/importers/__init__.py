"""Other people's checkpoints: a file for each format, and readers with bounds on what a file may claim."""
