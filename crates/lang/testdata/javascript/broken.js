function first() {
  return 1;
}

function second( {
  return ;
}

class Third {
  fourth() {
    return [1, 2;
  }

  fifth() {}
}

const sixth = () => 6;
