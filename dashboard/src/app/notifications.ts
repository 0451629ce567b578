// The page's notifications: stored here, so that any code can add one and the shell shows it.
import { type ReactNode, useSyncExternalStore } from "react";
import { session, subscribe as onSession } from "../session/session.ts";

interface Notification {
  id: string;
  type: "success" | "error" | "warning" | "info";
  header: string;
  content?: ReactNode;
}

/** Successes disappear by themselves; errors stay until the user has seen them. */
const SUCCESS_SECONDS = 10;

let shown: readonly Notification[] = [];
const listeners = new Set<() => void>();

/** Adds a notification; the same ID replaces the previous one. */
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

// One user's notifications are not for the next.
onSession(() => {
  if (session() === undefined) show([]);
});
