int first(void) {
    return 1;
}

int second(int a, {
    return a;
}

struct third {
    int value;
};

static int fourth(int x) {
    return x + ;
}

int fifth(void) { return 5; }
