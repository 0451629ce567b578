// A value that parts of the page share: what shows it renders again when it changes.
import { useSyncExternalStore } from "react";

interface Store<T> {
  get: () => T;
  set: (next: T) => void;
  /** Calls the listener after each change, until the returned function is called. */
  subscribe: (listener: () => void) => () => void;
  use: () => T;
}

export function createStore<T>(initial: T): Store<T> {
  let value = initial;
  const listeners = new Set<() => void>();
  const get = () => value;
  const subscribe = (listener: () => void) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  };
  const set = (next: T) => {
    value = next;
    for (const listener of listeners) listener();
  };
  return { get, set, subscribe, use: () => useSyncExternalStore(subscribe, get) };
}
