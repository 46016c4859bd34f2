"""Retrying with pauses."""

import time
from functools import wraps

LIMIT = 5
default_pause: float = 0.5
first, second = 1, 2


class RetryError(Exception):
    """Raised when every try failed.

    It keeps the last error.
    """

    CODE = 7

    def __init__(self, last):
        self.last = last

    @property
    def cause(self):
        return self.last

    @staticmethod
    async def wait(seconds: float) -> None:
        """Waits."""
        await sleep(seconds)


# Doubles the pause each time.
# Never more than a minute.
def backoff(attempt, *, base=0.5):
    limit = 60
    return min(limit, base * 2 ** attempt)


@decorator
@other(
    option=1,
)
def retry(times):
    'Decorates a function.'

    def wrap(function):
        @wraps(function)
        def call(*args):
            return function(*args)

        return call

    return wrap


if __name__ == "__main__":
    print(backoff(3))
