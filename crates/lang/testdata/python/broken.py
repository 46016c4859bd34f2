def first():
    """Before the fault."""
    return 1


def second(a, b:
    return a +


class Third:
    def fourth(self):
        return 4

    def fifth(self)
        return 5


def sixth():
    return 6
