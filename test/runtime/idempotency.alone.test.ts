// What is kept of a request with an `Idempotency-Key`, until when, and for whom, with a real table.
import { afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { ApiError } from "../../shared/api/errors.ts";
import { startChange } from "../../shared/data/change.ts";
import { formatNumber } from "../../shared/data/numbers.ts";
import { keys } from "../../shared/data/keys.ts";
import type { Caller } from "../../shared/records/schemas/caller.ts";
import { find, readAll } from "../../shared/data/table.ts";
import { newId } from "../../shared/domain/ids.ts";
import { keyVersions } from "../../shared/platform/secrets.ts";
import {
  removeStoredRequest,
  idempotentRequest,
  inProgress,
  storeResponse,
  storedRequestRef,
  readStoredResponse,
  reserveKey,
} from "../../shared/runtime/idempotency.ts";
import { apiUrl } from "../harness/cloud.ts";

const DAY_MS = 24 * 3_600_000;
const POST = { method: "POST", path: "/api/v1/ssh-keys", body: { name: "Laptop", list: [1, 2] } };
const RESPONSE = { status: 201, location: "/api/v1/ssh-keys/ssh_1", data: { secret: "shown once" } };

beforeAll(async () => {
  apiUrl(); // chooses the table
  await keyVersions("SEALING_KEY"); // read at the real time, because the call is signed
});

let now: number;
beforeEach(() => {
  now = Math.floor(Date.now() / 1000) * 1000 + 1;
  vi.useFakeTimers({ toFake: ["Date"], now });
});
afterEach(() => void vi.useRealTimers());

const newCaller = (): Caller => ({
  account_id: newId("account"),
  type: "token",
  id: newId("token"),
  permissions: [],
  ip_address: null,
});

type IdempotentRequest = ReturnType<typeof idempotentRequest>;

/** Stores the response of a request that has succeeded, with its other writes. */
async function succeed(request: IdempotentRequest, operation?: { id: string }): Promise<void> {
  const change = startChange({ id: request.caller.account_id });
  change.put({ pk: `${request.caller.account_id}#EFFECT`, sk: newId("ssh_key") }, {});
  if (operation !== undefined)
    change.add(
      "operation",
      {
        ...operation,
        number: formatNumber(1, operation.id),
        type: "instance.stop",
        resource: { type: "instance", id: newId("instance") },
        created_at: change.at,
        created_by: request.caller,
      },
      {},
    );
  await storeResponse(change, request, RESPONSE);
  await change.commit();
}

/** What a retry gets: the stored response, undefined if there is none, or an error. */
const retry = async (request: IdempotentRequest, resume?: Parameters<typeof readStoredResponse>[2]) =>
  readStoredResponse(request, await find(storedRequestRef(request)), resume);

const codeOf = async (work: Promise<unknown>): Promise<string | undefined> => {
  try {
    await work;
    return undefined;
  } catch (error) {
    if (error instanceof ApiError) return error.code;
    throw error;
  }
};

describe("a retry", () => {
  test("gets the stored response, to the last field, and nothing before there is one", async () => {
    const request = idempotentRequest("key", newCaller(), POST);
    expect(await retry(request)).toBeUndefined();
    await succeed(request);
    expect(await retry(request)).toEqual(RESPONSE);
  });

  test("is the same request if its body has the same fields in another order", async () => {
    const caller = newCaller();
    await succeed(idempotentRequest("key", caller, POST));
    const reordered = { ...POST, body: { list: [1, 2], name: "Laptop" } };
    expect(await retry(idempotentRequest("key", caller, reordered))).toEqual(RESPONSE);
  });

  test.each([
    ["method", { ...POST, method: "PUT" }],
    ["path", { ...POST, path: "/api/v1/tokens" }],
    ["body", { ...POST, body: { name: "Laptop", list: [2, 1] } }],
    ["body of nothing", { ...POST, body: null }],
  ])("with another %s is an error", async (_, other) => {
    const caller = newCaller();
    await succeed(idempotentRequest("key", caller, POST));
    expect(await codeOf(retry(idempotentRequest("key", caller, other)))).toBe("IDEMPOTENCY_KEY_REUSED");
  });

  test("by another credential, or with another key, is another request", async () => {
    const caller = newCaller();
    await succeed(idempotentRequest("key", caller, POST));
    expect(await retry(idempotentRequest("key", { ...caller, id: newId("token") }, POST))).toBeUndefined();
    expect(await retry(idempotentRequest("key2", caller, POST))).toBeUndefined();
    expect(await retry(idempotentRequest("key", newCaller(), POST))).toBeUndefined();
  });

  test("gets the response for 24 hours, to the millisecond, and then it is another request, whose response is stored", async () => {
    const request = idempotentRequest("key", newCaller(), POST);
    await succeed(request);
    vi.setSystemTime(now + DAY_MS);
    expect(await retry(request)).toEqual(RESPONSE);
    expect(await inProgress(request)).toBeInstanceOf(ApiError);
    vi.setSystemTime(now + DAY_MS + 1);
    expect(await retry(request)).toBeUndefined();
    expect(await inProgress(request)).toBeUndefined();
    // By now, another request can use the key, too.
    const other = { ...request, fingerprint: "another" };
    await succeed(other);
    expect(await retry(other)).toEqual(RESPONSE);
  });

  test("makes sure that the operation has been started, before it gets the response", async () => {
    const request = idempotentRequest("key", newCaller(), POST);
    const id = newId("operation");
    await succeed(request, { id });
    const resume = vi.fn<(account: string, operation: string) => Promise<void>>(async () => undefined);
    expect(await retry(request, resume)).toEqual(RESPONSE);
    expect(resume.mock.calls).toEqual([[request.caller.account_id, id]]);
    expect(await retry(request)).toEqual(RESPONSE);
    const withdrawn = new Error("withdrawn");
    await expect(retry(request, () => Promise.reject(withdrawn))).rejects.toBe(withdrawn);
  });

  test("of a request without an operation resumes none", async () => {
    const request = idempotentRequest("key", newCaller(), POST);
    await succeed(request);
    const resume = vi.fn<() => Promise<void>>(async () => undefined);
    expect(await retry(request, resume)).toEqual(RESPONSE);
    expect(resume).not.toHaveBeenCalled();
  });
});

describe("what is stored", () => {
  const itemOf = async (request: IdempotentRequest) => {
    for (const item of (await readAll([storedRequestRef(request).key])).values()) return item;
    throw new Error("Nothing is stored");
  };

  test("shows neither the request nor the response, and is deleted a day later", async () => {
    const request = idempotentRequest("key", newCaller(), POST);
    await succeed(request);
    const item = await itemOf(request);
    expect(JSON.stringify(item)).not.toMatch(/Laptop|shown once/);
    expect(item).not.toHaveProperty("operation_id");
    expect(item["expires_at"]).toBe(new Date(now + DAY_MS).toISOString());
    expect(item["ttl"]).toBe(Math.ceil((now + DAY_MS) / 1000));
  });

  test("cannot be used for another key, even if it is copied there", async () => {
    const caller = newCaller();
    const [one, other] = ["one", "other"].map((key) => idempotentRequest(key, caller, POST));
    if (one === undefined || other === undefined) throw new Error("There are two");
    await succeed(one);
    const storedRequest = await find(storedRequestRef(one));
    await expect(readStoredResponse(other, storedRequest, undefined)).rejects.toThrow("unable to authenticate data");
  });

  test("is stored once: of two requests at the same time the second fails as a whole, and may be retried after a second", async () => {
    const request = idempotentRequest("key", newCaller(), POST);
    expect(await inProgress(request)).toBeUndefined();
    const first = startChange({ id: request.caller.account_id });
    await storeResponse(first, request, RESPONSE);
    await first.commit();
    const effect = { pk: `${request.caller.account_id}#EFFECT`, sk: "second" };
    const other = startChange({ id: request.caller.account_id });
    other.put(effect, {});
    await storeResponse(other, request, { ...RESPONSE, status: 202 });
    const failed = await other.commit().catch((error: unknown) => error);
    expect(failed).toMatchObject({ code: "IDEMPOTENCY_IN_PROGRESS", retryAfter: 1 });
    expect((await readAll([effect])).size).toBe(0);
    expect(await retry(request)).toEqual(RESPONSE);
    expect(await inProgress(request)).toMatchObject({ code: "IDEMPOTENCY_IN_PROGRESS", retryAfter: 1 });
  });

  test("is only the request where the response is not stored: a retry runs again for a day, and the key stays taken", async () => {
    const caller = newCaller();
    const request = idempotentRequest("key", caller, POST);
    const other = idempotentRequest("key", caller, { ...POST, body: {} });
    for (const elapsed of [0, 0, DAY_MS]) {
      vi.setSystemTime(now + elapsed);
      const change = startChange({ id: caller.account_id });
      await reserveKey(change, request);
      await change.commit(); // at the same moment, too
      expect(await retry(request)).toBeUndefined();
      expect(await codeOf(retry(other))).toBe("IDEMPOTENCY_KEY_REUSED");
    }
    vi.setSystemTime(now + 2 * DAY_MS + 1);
    expect(await retry(other)).toBeUndefined();
    const [item] = (await readAll([storedRequestRef(request).key])).values();
    expect(item).toMatchObject({ answer: "", ttl: Math.ceil((now + 2 * DAY_MS) / 1000) });
    expect(Date.parse(String(item?.["expires_at"]))).toBeLessThan(now); // older versions run it again, too
  });

  test("is written first, so that its error is the one that a client gets", async () => {
    const request = idempotentRequest("key", newCaller(), POST);
    await succeed(request);
    const change = startChange({ id: request.caller.account_id });
    change.update({ pk: "none", sk: "none" }, { set: { never: 1 } }, { equals: { impossible: 1 } });
    await storeResponse(change, request, RESPONSE);
    expect(await codeOf(change.commit())).toBe("IDEMPOTENCY_IN_PROGRESS");
  });

  test("is deleted if its operation could not be started, also if it has never been written", async () => {
    const request = idempotentRequest("key", newCaller(), POST);
    await succeed(request, { id: newId("operation") });
    for (let i = 0; i < 2; i++) {
      const change = startChange({ id: request.caller.account_id });
      removeStoredRequest(change, request);
      await change.commit();
      expect(await retry(request)).toBeUndefined();
    }
    expect(storedRequestRef(request).key).toEqual(keys.idempotency(request.caller.account_id, request.caller.id, "key"));
  });
});

test("a key has 1 to 255 printable ASCII characters", async () => {
  const caller = newCaller();
  for (const key of [" ", "~", "x".repeat(255)]) expect(idempotentRequest(key, caller, POST).key).toBe(key);
  for (const key of ["", "x".repeat(256), "ü", "\t", "a\u007f", "a\u001fb", "é", "a\n", "\na", "\u007fa"]) {
    const error = await Promise.resolve()
      .then(() => idempotentRequest(key, caller, POST))
      .catch((thrown: unknown) => thrown);
    const details = expect.objectContaining({ field: "Idempotency-Key", reason: expect.stringContaining("1 to 255") });
    expect(error, JSON.stringify(key)).toMatchObject({ code: "VALIDATION_ERROR", details });
  }
});
