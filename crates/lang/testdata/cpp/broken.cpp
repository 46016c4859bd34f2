class First {
public:
    int second() { return 2; }
    int third( { return 3; }
};

int fourth() {
    return 4 + ;
}

namespace fifth {
int sixth() { return 6; }
}
