export function first(a: number): number {
  return a;
}

interface Second {
  a: ;
  run(): void
}

class Third {
  fourth(x: string {
    return x;
  }
  fifth(): void {}
}

export const sixth = 6;
