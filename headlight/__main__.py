"""`python -m headlight` is the command `headlight`."""

from headlight.cli.main import main

main()
