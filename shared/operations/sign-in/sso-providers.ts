// Identity providers as accounts have set them: whether one can be used, and what errors of theirs are to clients.
import { invalid, providerFailed, ssoInvalid } from "../../api/errors.ts";
import { log } from "../../platform/log.ts";
import { discover, NotProven, ProviderError } from "../../platform/oidc.ts";
import { receiverGuard, requireOutside } from "../events/receivers.ts";

/** Rejects an issuer that leads to where only we can go, or that is no provider now. */
export async function requireProvider(issuer: string, ownHost: string): Promise<void> {
  await requireOutside("issuer", issuer, ownHost);
  try {
    await discover(issuer, receiverGuard());
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error;
    log.info("not an identity provider", { issuer, reason: error.message });
    throw invalid({ field: "issuer", reason: "is not the issuer of an identity provider that responds" });
  }
}

/** What a provider does wrong is the customer's to repair, so it is no error of the service; the log says what it was. */
export async function withProvider<T>(accountId: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof NotProven || error instanceof ProviderError)
      log.warn("single sign-on failed", { account: accountId, reason: error.message });
    if (error instanceof NotProven) throw ssoInvalid();
    if (error instanceof ProviderError) throw providerFailed(error);
    throw error;
  }
}
