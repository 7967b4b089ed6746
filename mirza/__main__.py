"""`python -m mirza` is `mirza`."""

from mirza.cli import main

if __name__ == "__main__":
    raise SystemExit(main())
