// Asks the browser for passkeys. Pages load it when somebody uses one.
import {
  browserSupportsWebAuthnAutofill,
  startAuthentication,
  startRegistration,
  WebAuthnAbortService,
} from "@simplewebauthn/browser";
import type { Assertion, Attestation, CreationOptions, PasskeyOptions } from "../../../shared/api/second-factors.ts";

export async function createPasskey(options: CreationOptions): Promise<Attestation> {
  const attestation = await startRegistration({ optionsJSON: options });
  return { ...attestation, response: { ...attestation.response } };
}

export const askForPasskey = (options: PasskeyOptions): Promise<Assertion> => ask(options, false);

/** The passkey that the user picks among the suggestions for the email field. */
export const pickedPasskey = (options: PasskeyOptions): Promise<Assertion> => ask(options, true);

async function ask(options: PasskeyOptions, useBrowserAutofill: boolean): Promise<Assertion> {
  const assertion = await startAuthentication({ optionsJSON: options, useBrowserAutofill });
  return { ...assertion, response: { ...assertion.response } };
}

export const suggestsPasskeys = (): Promise<boolean> => browserSupportsWebAuthnAutofill();

/** Ends what waits for a passkey. */
export const stopAsking = (): void => WebAuthnAbortService.cancelCeremony();
