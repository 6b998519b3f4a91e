"""`python -m reasonact` is `reasonact`."""

from reasonact.cli import main

main()
