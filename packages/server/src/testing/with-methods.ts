import type { Store } from "../contracts/stores/store.js";

/** The same object, with other ways to do some of its work. */
export function withMethods<T extends object>(target: T, instead: Partial<T>): T {
  return new Proxy(target, {
    get(_, name) {
      if (name in instead) return Reflect.get(instead, name);
      const value: unknown = Reflect.get(target, name);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}

/** The same store for somebody who closes it, while others go on with it. */
export function lent(store: Store): Store {
  return withMethods(store, { close: async () => {} });
}
