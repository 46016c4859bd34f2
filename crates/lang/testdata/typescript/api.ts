/** What a user is. */
export interface User {
  name: string;
  /** Says hello. */
  greet(to: string): string;
}

export type Id = string | number;

export enum Role {
  Reader,
  Writer = "w",
}

declare function legacy(x: number): void;

export abstract class Repository<T extends User> implements Closeable {
  private readonly items: Map<Id, T> = new Map();

  constructor(protected readonly name: string) {}

  /** Finds one. */
  abstract find(id: Id): T | undefined;

  @logged({ level: "info" })
  public async save(item: T): Promise<void> {
    this.items.set(item.name, item);
  }

  onClose = (): void => {};
}

export namespace Paths {
  export const ROOT = "/";
  export function join(...parts: string[]): string {
    return parts.join("/");
  }
}

// Two forms of one function.
export function parse(text: string): User;
export function parse(text: string, strict: boolean): User;
export function parse(text: string, strict = false): User {
  return JSON.parse(text);
}

@Component({ selector: "app" })
export class App {}
