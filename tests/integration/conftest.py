"""What all tests on real control planes need."""

import signal


def pytest_configure():
    """Let Ctrl-C reach the programs that tests start, also in a run that was put into the background.

    A shell starts background jobs with SIGINT ignored, and that is inherited.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
