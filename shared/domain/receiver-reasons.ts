// Why a delivery, or another request to an address of a customer's, got no response: a part of REASONS, apart from the rest for
// the functions that need no other.
import { fillIn, type Parameters } from "./sentences.ts";

export const RECEIVER_REASONS = {
  receiver_url: "The URL {why}",
  receiver_silent: "No response within {seconds} s",
  receiver_unresolved: "The name does not resolve",
  receiver_private: "The name leads to a private address",
  receiver_closed_port: "Nothing accepts connections there",
  receiver_closed: "The connection was closed before a response",
  receiver_unreached: "The address cannot be reached",
  receiver_certificate: "The TLS certificate is not valid for this name",
  receiver_no_http: "The response is not HTTP",
  receiver_too_long: "The response is too long",
  receiver_failed: "The request failed",
  delivery_not_allowed: "Whoever set up the webhook may no longer use it",
  delivery_event_gone: "The event is no longer kept",
  delivery_joined: "Part of the next message of this kind",
} as const satisfies Record<string, string>;

/** A reason of one of these codes. */
export interface ReceiverReason {
  code: keyof typeof RECEIVER_REASONS;
  parameters: Parameters;
}

export const receiverReason = (code: ReceiverReason["code"], parameters: Parameters = {}): ReceiverReason => ({
  code,
  parameters,
});

export const receiverReasonInEnglish = ({ code, parameters }: ReceiverReason): string =>
  fillIn(RECEIVER_REASONS[code], parameters);
