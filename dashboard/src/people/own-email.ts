// The signed-in user's own email as people read it: the session has it as the network writes it.
import { useQuery } from "@tanstack/react-query";
import { me } from "../app/queries.ts";
import { useSession } from "../session/session.ts";

/** A domain in another script. */
const ENCODED = /[@.]xn--/i;

/** Only where the two differ is there a request. */
export function useOwnEmail(): { ascii: string; unicode: string } {
  const { email = "" } = useSession()?.user ?? {};
  const user = useQuery({ ...me(), enabled: ENCODED.test(email) }).data?.data.user;
  return { ascii: email, unicode: user == null ? email : readableEmail(user) };
}

/** An older service sends no `email_unicode`. */
export const readableEmail = ({ email, email_unicode = email }: { email: string; email_unicode?: string }): string =>
  email_unicode;
