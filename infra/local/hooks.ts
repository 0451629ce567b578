// Lets a test intercept calls: to make them fail, run twice, wait, or to watch them.
type Hook<Call> = (call: Call, next: (call?: Call) => Promise<unknown>) => Promise<unknown>;

export interface Hooks<Call> {
  /** The last hook added is called first. Returns the function that removes it. */
  intercept: (hook: Hook<Call>) => () => void;
  run: (call: Call, last: (call: Call) => Promise<unknown>) => Promise<unknown>;
}

export function hooks<Call>(): Hooks<Call> {
  const added: Hook<Call>[] = [];
  const run = (call: Call, last: (call: Call) => Promise<unknown>, from: number): Promise<unknown> => {
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
