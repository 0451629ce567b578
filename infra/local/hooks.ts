// Lets a test intercept calls: to make them fail, run twice, wait, or to watch them.
export type Hook<Call, Result = unknown> = (call: Call, next: (call?: Call) => Promise<Result>) => Promise<Result>;

export interface Hooks<Call, Result = unknown> {
  /** The last hook added is called first. Returns the function that removes it. */
  intercept: (hook: Hook<Call, Result>) => () => void;
  run: (call: Call, last: (call: Call) => Promise<Result>) => Promise<Result>;
}

export function hooks<Call, Result = unknown>(): Hooks<Call, Result> {
  const added: Hook<Call, Result>[] = [];
  const run = (call: Call, last: (call: Call) => Promise<Result>, from: number): Promise<Result> => {
    const hook = added[from];
    return hook ? hook(call, (changed = call) => run(changed, last, from - 1)) : last(call);
  };
  return {
    intercept: (hook) => {
      added.push(hook);
      return () => {
        if (added.includes(hook)) added.splice(added.indexOf(hook), 1);
      };
    },
    run: (call, last) => run(call, last, added.length - 1),
  };
}
