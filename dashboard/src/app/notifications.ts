// The page's notifications: stored here, so that any code can add one and the shell shows it.
import type { ReactNode } from "react";
import { onOtherUser } from "../session/session.ts";
import { createStore } from "../session/store.ts";

interface Notification {
  id: string;
  type: "success" | "error" | "warning" | "info";
  header: string;
  content?: ReactNode;
}

/** Successes disappear by themselves; errors stay until the user has seen them. */
const SUCCESS_SECONDS = 10;

const notifications = createStore<readonly Notification[]>([]);

/** Adds a notification; the same ID replaces the previous one. */
export function notify(notification: Notification): void {
  notifications.set([notification, ...notifications.get().filter(({ id }) => id !== notification.id)]);
  if (notification.type === "success")
    setTimeout(() => notifications.set(notifications.get().filter((each) => each !== notification)), SUCCESS_SECONDS * 1000);
}

export const dismiss = (id: string): void => notifications.set(notifications.get().filter((each) => each.id !== id));

export const useNotifications = notifications.use;

// One user's notifications are not for the next.
onOtherUser(() => notifications.set([]));
