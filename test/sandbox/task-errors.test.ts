// An operation's error has our own message, and no internal details.
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ApiError, OPERATION_ERRORS } from "../../shared/api/errors.ts";
import { parseConfiguration } from "../../shared/platform/configuration.ts";
import { because } from "../../shared/domain/reasons.ts";
import { asTaskError, forStateMachine, GiveUp, toOperationError, TryAgain } from "../../shared/platform/task-errors.ts";
import { asApiError } from "../../shared/runtime/reply.ts";

/** The error as Step Functions catches it. */
const caught = ({ name, message }: Error) => ({
  Error: name,
  Cause: JSON.stringify({ errorType: name, errorMessage: message, trace: [] }),
});

const thrown = (error: Error): Error => {
  forStateMachine(error);
  return error;
};

test("every error's code, message and reason survive the state machine", () => {
  fc.assert(
    fc.property(fc.constantFrom(...OPERATION_ERRORS), fc.string({ minLength: 1 }), (code, output) => {
      const reason = because("machine_reports_other", { output });
      const error = { code, message: `The machine reports: ${output}`, reason };
      expect(toOperationError(caught(thrown(new GiveUp(code, reason))))).toEqual(error);
      expect(toOperationError(caught(thrown(new TryAgain(code, reason))))).toEqual(error);
    }),
    { seed: 1 },
  );
});

test("an error of an earlier version's task has the reason of its message, if that is known", () => {
  const of = (message: string) => toOperationError(caught(Object.assign(new Error(`TIMEOUT: ${message}`), { name: "GiveUp" })));
  expect(of("The ERP does not stop")).toEqual({
    code: "TIMEOUT",
    message: "The ERP does not stop",
    reason: because("erp_does_not_stop"),
  });
  expect(of('Broken\n{"error":1}')).toEqual({ code: "TIMEOUT", message: 'Broken\n{"error":1}', reason: null });
});

describe("unexpected errors", () => {
  test.each([
    ["a bug", caught(new TypeError("x is not a function at /var/task/index.mjs"))],
    ["a bug whose message looks like an operation error", caught(new Error("PROVIDER_ERROR: password is hunter2"))],
    ["an unknown code", caught(Object.assign(new Error("NO_SUCH_CODE: secret"), { name: "GiveUp" }))],
    ["a cause that is not JSON", { Error: "States.Runtime", Cause: "An error occurred while executing the state" }],
    ["an empty cause", {}],
  ])("%s is reported without details", (_, error) => {
    const { code, message } = toOperationError(error);
    expect(code).toBe("INTERNAL_ERROR");
    expect(message).toBe("Something went wrong on our side; include the operation ID when you report it");
  });
});

test.each([
  ["States.Timeout", { Error: "States.Timeout", Cause: "" }, "TIMEOUT"],
  ["a function timeout", { Error: "Sandbox.Timedout", Cause: '{"errorMessage":"..."}' }, "TIMEOUT"],
  ["a stopped execution", { Error: "Aborted", Cause: "" }, "CANCELLED"],
])("%s is reported as %s", (_, error, code) => {
  expect(toOperationError(error).code).toBe(code);
});

describe("temporary errors", () => {
  test.each([
    ["an outage", new ApiError("SERVICE_UNAVAILABLE")],
    ["a rejected connection", Object.assign(new Error("connect"), { code: "ECONNREFUSED" })],
    ["throttling", Object.assign(new Error("slow down"), { name: "ThrottlingException", $retryable: { throttling: true } })],
    ["an AWS error", Object.assign(new Error("oops"), { $fault: "server" })],
    ["a permission that a function has just been given", Object.assign(new Error("no"), { name: "AccessDeniedException" })],
    ["the end of a function's session", Object.assign(new Error("no"), { name: "ExpiredToken" })],
    ["an overtaken write", Object.assign(new Error("lost"), { name: "ConditionFailed" })],
  ])("%s is retried", (_, error) => {
    expect(asTaskError(error)).toBeInstanceOf(TryAgain);
  });

  test.each(["AccessDeniedException", "UnrecognizedClientException", "ExpiredTokenException"])(
    "an API function that gets %s responds with 503",
    (name) => {
      expect(asApiError(Object.assign(new Error("no"), { name }))).toMatchObject({ status: 503, code: "SERVICE_UNAVAILABLE" });
    },
  );

  test("a mistake in the operator's secret is retried, so that the work waits for its correction", () => {
    for (const text of ["{", '{ "provider": 1 }'])
      try {
        parseConfiguration(text);
        expect.unreachable();
      } catch (error) {
        expect(asTaskError(error)).toBeInstanceOf(TryAgain);
      }
  });

  test("a bug is not retried", () => {
    const bug = new TypeError("x");
    expect(asTaskError(bug)).toBe(bug);
  });
});
