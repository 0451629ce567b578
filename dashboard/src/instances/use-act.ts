// Starts, stops or restarts an instance.
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import type { Instance } from "../../../shared/api/instances.ts";
import { client } from "../app/client.ts";

export function useAct({ id, updated_at }: Instance, action: "start" | "stop" | "restart") {
  // The same key until a response arrives or the instance changes: a retry after a lost response takes effect once, and none is taken for a
  // later request.
  const [key, setKey] = useState(() => crypto.randomUUID());
  const idempotencyKey = `${key} ${updated_at}`;
  const send = () => client.instances.act({ params: { id }, body: { action }, idempotencyKey });
  const mutation = useMutation({ mutationFn: send, onSuccess: () => setKey(crypto.randomUUID()) });
  return { ...mutation, send };
}
