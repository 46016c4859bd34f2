// @ts-check
import { open } from "./file.js";

/** The name under which it is kept. */
export const KEY = "store";
let count = 0, total = 1;

/**
 * Reads what was kept.
 * @returns {Promise<string>}
 */
export async function read(path, { retries = 3 } = {}) {
  const attempt = () => open(path);
  return attempt();
}

// Keeps a value.
const keep = async (value) => {
  count += 1;
};

export default class Store extends Base {
  static limit = 10;
  handler = (event) => {
    this.last = event;
  };

  constructor(name) {
    super();
    function local() {}
  }

  /** How many. */
  get size() {
    return count;
  }

  async *each() {}
}

function* numbers() {
  yield 1;
}

Store.prototype.clear = function () {
  count = 0;
};
exports.helper = (x) => x;

const View = class {
  render() {
    return <div>{this.name}</div>;
  }
};
