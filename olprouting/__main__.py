"""``python -m olprouting``: the command line."""

import signal

from olprouting.cli.interrupts import exit_on_interrupt
from olprouting.cli.streams import lenient_streams


def main() -> None:
    """Run the command line."""
    with lenient_streams(), exit_on_interrupt():
        from olprouting.cli.app import main as run

        try:
            run()
        finally:
            # the work is done or given up, and an interrupt could only spoil the exit code
            signal.signal(signal.SIGINT, signal.SIG_IGN)


if __name__ == "__main__":
    main()
