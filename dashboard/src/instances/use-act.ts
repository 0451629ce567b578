// Starts, stops or restarts an instance.
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import type { Instance } from "../../../shared/api/instances.ts";
import { client } from "../app/client.ts";

export function useAct({ id, updated_at }: Instance, action: "start" | "stop" | "restart") {
  // The same key until a response arrives: a retry after a lost response takes effect once. A start, whose button stays on the
  // page, is another one once the instance has changed.
  const [key, setKey] = useState(() => crypto.randomUUID());
  const idempotencyKey = action === "start" ? `${key} ${updated_at}` : key;
  const send = () => client.instances.act({ params: { id }, body: { action }, idempotencyKey });
  const mutation = useMutation({ mutationFn: send, onSuccess: () => setKey(crypto.randomUUID()) });
  return { ...mutation, send };
}
