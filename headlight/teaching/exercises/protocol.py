"""What the process with a student's file and the one that started it agree on."""

SAID = "said.jsonl"  # what was begun, and each verdict, a line each
STUCK = "stuck.txt"  # where the file was when its time was over
