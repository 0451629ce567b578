// One of each message, as tests render it.
import type { MessageType } from "../../shared/mail/messages.ts";

const place = { at: "2026-11-26T10:00:00.000Z", ip_address: "198.51.100.7", user_agent: "Firefox" };

const SAMPLES: Readonly<Record<MessageType, object>> = {
  invitation: { token: "t0ken", account_name: "Example Ltd", invited_by: "Ann Owner" },
  password_reset: { token: "t0ken" },
  new_place: place,
  password_changed: place,
  second_factor_added: { factor: "YubiKey", ...place },
  second_factor_removed: { factor: "YubiKey", ...place },
  webhook_disabled: { webhook_id: "whk_01kag8w1s2e7tv8q4m5n6p7r8s", name: "Billing", reason: "failing" },
  alerts: {
    outcomes: [
      {
        event_type: "alert.opened",
        at: "2026-11-26T10:00:00.000Z",
        resource: { type: "server", name: "erp-1" },
        alert: { kind: "disk_free", value: 4, threshold: 5 },
        error: null,
      },
      {
        event_type: "backup.create.failed",
        at: "2026-11-26T10:01:00.000Z",
        resource: { type: "instance", name: "Shop" },
        alert: null,
        error: "The disk is full",
      },
    ],
    more: 3,
  },
  token_expiring: { name: "Deploy pipeline", expires_at: "2026-12-10T10:00:00.000Z" },
};

export const MESSAGES = Object.entries(SAMPLES).map(([type, fields]) => ({ type, ...fields }));
export const MESSAGE_TYPES: ReadonlySet<string> = new Set(Object.keys(SAMPLES));
