"""``python -m olprouting``: the command line."""

from olprouting.cli.app import main

main()
