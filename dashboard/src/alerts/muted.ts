// What is said of an alert about which no mail is sent.
import type { Alert } from "../../../shared/api/alerts.ts";
import { notify } from "../app/notifications.ts";
import { text } from "../messages/text.ts";
import { formatTime } from "../resource/words/moment.ts";

export const momentInWords = (at: string): string => (at === "" ? "" : formatTime(at));

export function notifyMuted({ id, muted_until }: Alert): void {
  const say = text.alerts.mute;
  notify({ id, type: "success", header: muted_until === null ? say.unmuted : say.muted });
}
