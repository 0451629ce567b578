// POST /auth/second-factors/totp
import * as secondFactors from "../../shared/api/second-factors.ts";
import { relyingParty } from "../../shared/operations/sign-in/passkey-options.ts";
import { beginTotp } from "../../shared/records/second-factors.ts";
import { beginOwnChange } from "../../shared/runtime/begin.ts";
import { handle } from "../../shared/runtime/handle.ts";

export const handler = handle(secondFactors.beginTotp)(async ({ caller, origin, read, commit }) => {
  const { change, user } = await beginOwnChange({ caller, read });
  const secret = await beginTotp(change, user);
  const host = relyingParty(origin());
  const label = [host, user.email].map(encodeURIComponent).join(":");
  const otpauth_url = `otpauth://totp/${label}?secret=${secret}&issuer=${encodeURIComponent(host)}`;
  return commit(change, { secret, otpauth_url });
});
