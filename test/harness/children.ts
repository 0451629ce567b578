// Programs that start others and take hours use this: nothing that they have started goes on without them.
import type { ChildProcess } from "node:child_process";

/** What this process has started and has not ended. */
export const children = new Set<ChildProcess>();

/** Ends what was started, and this process, once it is stopped or whoever started it is gone. */
export function endWithParent(): void {
  const end = (): never => {
    for (const child of children) child.kill("SIGTERM");
    process.exit(1);
  };
  for (const signal of ["SIGINT", "SIGTERM", "disconnect"] as const) process.on(signal, end);
}

/** The channel to the parent would keep the process alive. */
export function leaveParent(): void {
  process.removeAllListeners("disconnect");
  if (process.connected) process.disconnect();
}
