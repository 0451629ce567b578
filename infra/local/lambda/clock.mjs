// @ts-check
// A clock that a test drives: from the next reading on, `Date` in this thread is as far ahead of the machine's clock as the
// buffer says.

/** @param {SharedArrayBuffer} clock the milliseconds, as one Float64 that several threads share */
export function driveClock(clock) {
  const [MachineDate, ahead] = [Date, new Float64Array(clock)];
  const now = () => MachineDate.now() + (ahead[0] ?? 0);
  globalThis.Date = new Proxy(MachineDate, {
    construct: (target, given, newTarget) => Reflect.construct(target, given.length === 0 ? [now()] : given, newTarget),
    apply: () => new MachineDate(now()).toString(),
    get: (target, name, receiver) => (name === "now" ? now : Reflect.get(target, name, receiver)),
  });
}
