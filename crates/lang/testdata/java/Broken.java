class First {
    int second() {
        return 2;
    }

    void third( {
        int x = ;
    }

    String fourth() {
        return "4";
    }
}

class Fifth {
    void sixth() {}
}
