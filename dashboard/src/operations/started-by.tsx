// Whether somebody who created or started something is still a user of the account.
import Box from "@cloudscape-design/components/box";
import { useQuery } from "@tanstack/react-query";
import type { Actor } from "../../../shared/api/fields.ts";
import { useMay } from "../app/may.tsx";
import { users } from "../app/queries.ts";
import { text } from "../messages/text.ts";
import { allPages } from "../resource/list/all-pages.ts";
import { useSession } from "../session/session.ts";
import { actorInWords } from "./words.ts";
import { MINUTE_MS } from "../../../shared/domain/durations.ts";

/** Somebody is removed now and then. */
const FRESH_MS = MINUTE_MS;

type Creator = Pick<Actor, "type" | "id">;

/** All users: usually one page, which has as many as an account may have by default. */
const everybody = () => ({
  queryKey: [...users.list().queryKey.slice(0, -1), "everybody"],
  // The pages belong to this query: it retries, is cancelled and says whether the service was reached.
  queryFn: ({ signal }: { signal: AbortSignal }) =>
    allPages(
      users.list,
      {},
      () => true,
      (page) => page.queryFn({ signal }),
    ),
});

/** Says who is no user any more; nobody, as long as that is not known. */
export function useIsRemoved(enabled = true): (creator: Creator) => boolean {
  const mayRead = useMay()("settings:read");
  const all = useQuery({ ...everybody(), enabled: enabled && mayRead, staleTime: FRESH_MS }).data;
  return ({ type, id }) => type === "user" && all?.some((user) => user.id === id) === false;
}

/** Who started something. A page asks for the users once, and only if it names another one. */
export function StartedBy({ actor }: { actor: Actor }) {
  const ownId = useSession()?.user.id;
  const isRemoved = useIsRemoved(actor.type === "user" && actor.id !== ownId);
  return (
    <>
      {actorInWords(actor)}
      {isRemoved(actor) && (
        <Box variant="small" display="block">
          {text.operations.actorRemoved}
        </Box>
      )}
    </>
  );
}
