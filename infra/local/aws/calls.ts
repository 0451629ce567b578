// The calls that the local AWS handled, for tests.

export type Service = "dynamodb" | "states" | "secretsmanager" | "sqs" | "s3";

const CALLS_KEPT = 10_000;

/** One call with its result. `actions` are the IAM actions it needed, `capacity` DynamoDB's units. */
export interface Call {
  at: string;
  requestId: string;
  principal: string;
  service: Service;
  action: string;
  actions: string[];
  resources: string[];
  status: number;
  error?: string;
  capacity?: number;
}

export interface Calls {
  record: (call: Call) => void;
  list: () => readonly Call[];
  clear: () => void;
  subscribe: (listener: (call: Call) => void) => () => void;
}

export function callLog(): Calls {
  const listeners = new Set<(call: Call) => void>();
  let calls: Call[] = [];
  return {
    record: (call) => {
      calls.push(call);
      if (calls.length > CALLS_KEPT) calls = calls.slice(-CALLS_KEPT / 2);
      for (const listener of listeners) listener(call);
    },
    list: () => calls,
    clear: () => void (calls = []),
    subscribe: (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}
