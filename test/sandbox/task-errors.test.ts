// An operation tells our own sentence of a failure, and nothing of the inside.
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ApiError, OPERATION_ERRORS } from "../../shared/api/errors.ts";
import { asTaskError, GiveUp, operationErrorOf, TryAgain } from "../../shared/platform/task-errors.ts";

/** As Step Functions catches what a function threw. */
const caught = ({ name, message }: Error) => ({
  Error: name,
  Cause: JSON.stringify({ errorType: name, errorMessage: message, trace: [] }),
});

test("code and sentence of every error come back through the state machine", () => {
  fc.assert(
    fc.property(fc.constantFrom(...OPERATION_ERRORS), fc.string({ minLength: 1 }), (code, message) => {
      expect(operationErrorOf(caught(new GiveUp(code, message)))).toEqual({ code, message });
      expect(operationErrorOf(caught(new TryAgain(code, message)))).toEqual({ code, message });
    }),
  );
});

describe("errors that are not ours are reported without details", () => {
  test.each([
    ["a bug", caught(new TypeError("x is not a function at /var/task/index.mjs"))],
    ["a bug whose message looks like ours", caught(new Error("PROVIDER_ERROR: password is hunter2"))],
    ["a code that there is not", caught(Object.assign(new Error("NO_SUCH_CODE: secret"), { name: "GiveUp" }))],
    ["a cause that is no JSON", { Error: "States.Runtime", Cause: "An error occurred while executing the state" }],
    ["nothing at all", {}],
  ])("%s", (_, error) => {
    const { code, message } = operationErrorOf(error);
    expect(code).toBe("INTERNAL_ERROR");
    expect(message).toBe("Something went wrong on our side; include the operation ID when you report it");
  });
});

test.each([
  ["States.Timeout", { Error: "States.Timeout", Cause: "" }, "TIMEOUT"],
  ["a function out of time", { Error: "Sandbox.Timedout", Cause: '{"errorMessage":"..."}' }, "TIMEOUT"],
  ["an execution that was stopped", { Error: "Aborted", Cause: "" }, "CANCELLED"],
])("%s is told as %s", (_, error, code) => {
  expect(operationErrorOf(error).code).toBe(code);
});

describe("what passes is tried again", () => {
  test.each([
    ["an outage of ours", new ApiError("SERVICE_UNAVAILABLE")],
    ["a refused connection", Object.assign(new Error("connect"), { code: "ECONNREFUSED" })],
    ["throttling", Object.assign(new Error("slow down"), { name: "ThrottlingException", $retryable: { throttling: true } })],
    ["a fault of AWS", Object.assign(new Error("oops"), { $fault: "server" })],
    ["a write that another one overtook", Object.assign(new Error("lost"), { name: "ConditionFailed" })],
  ])("%s", (_, error) => {
    expect(asTaskError(error)).toBeInstanceOf(TryAgain);
  });

  test("a bug is not", () => {
    const bug = new TypeError("x");
    expect(asTaskError(bug)).toBe(bug);
  });
});
