// @ts-check
// A function in AWS's own runtime client for Node.js. In place of the client's native half, which asks the Runtime API for
// invocations over HTTP and comes compiled, stand messages to and from the thread's maker.
/* oxlint-disable unicorn/require-post-message-target-origin -- threads have no origin, windows do */
import Module from "node:module";
import { parentPort } from "node:worker_threads";

/** @type {unknown[]} */
const waiting = [];
/** @type {((invocation: unknown) => void) | undefined} */
let take;
parentPort?.on("message", (invocation) => {
  waiting.push(invocation);
  take?.(waiting.shift());
  take = undefined;
});

const native = {
  next: () =>
    new Promise((resolve) => {
      if (waiting.length > 0) resolve(waiting.shift());
      else take = resolve;
    }),
  done: (/** @type {string} */ _id, /** @type {string} */ result) => parentPort?.postMessage({ result }),
  error: (/** @type {string} */ _id, /** @type {string} */ error) => parentPort?.postMessage({ error }),
};

const load = Reflect.get(Module, "_load");
Reflect.set(Module, "_load", (/** @type {unknown[]} */ ...given) =>
  given[0] === "./rapid-client.node" ? native : Reflect.apply(load, Module, given),
);

const CLIENT = "aws-lambda-ric"; // by a name that the compiler does not look up: it has no types
await import(CLIENT);
