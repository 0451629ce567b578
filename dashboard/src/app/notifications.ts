// What the page tells in passing: kept here, so that any code may tell something and the shell shows it.
import { type ReactNode, useSyncExternalStore } from "react";
import { session, subscribe as onSession } from "../session/session.ts";

interface Notification {
  id: string;
  type: "success" | "error" | "warning" | "info";
  header: string;
  content?: ReactNode;
}

/** Good news needs no click to go away; bad news stays until it was seen. */
const SUCCESS_SECONDS = 10;

let shown: readonly Notification[] = [];
const listeners = new Set<() => void>();

/** Tells something once: the same id again replaces what was told. */
export function notify(notification: Notification): void {
  show([notification, ...shown.filter(({ id }) => id !== notification.id)]);
  if (notification.type === "success")
    setTimeout(() => show(shown.filter((each) => each !== notification)), SUCCESS_SECONDS * 1000);
}

export const dismiss = (id: string): void => show(shown.filter((each) => each.id !== id));

export const useNotifications = (): readonly Notification[] => useSyncExternalStore(subscribe, () => shown);

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function show(next: readonly Notification[]): void {
  shown = next;
  for (const listener of listeners) listener();
}

// What one person was told is nothing for the next.
onSession(() => {
  if (session() === undefined) show([]);
});
