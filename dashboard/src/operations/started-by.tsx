// Whether somebody who created or started something is still a user of the account.
import Box from "@cloudscape-design/components/box";
import { useQuery } from "@tanstack/react-query";
import type { Actor } from "../../../shared/api/fields.ts";
import { PER_PAGE_MAX } from "../../../shared/domain/limits.ts";
import { useMay } from "../app/may.tsx";
import { users } from "../app/queries.ts";
import { text } from "../messages/text.ts";
import { useSession } from "../session/session.ts";
import { actorInWords } from "./words.ts";

/** Somebody is removed now and then. */
const FRESH_MS = 60_000;

type Creator = Pick<Actor, "type" | "id">;

/** Says who is no user any more; nobody, as long as that is not known. */
export function useIsRemoved(enabled = true): (creator: Creator) => boolean {
  const mayRead = useMay()("settings:read");
  const question = users.list({ per_page: PER_PAGE_MAX });
  const all = useQuery({ ...question, enabled: enabled && mayRead, staleTime: FRESH_MS }).data;
  const known = all === undefined || all.meta.total > all.data.length ? undefined : new Set(all.data.map(({ id }) => id));
  return ({ type, id }) => type === "user" && known?.has(id) === false;
}

/** Who started something. A page asks for the users once, and only if it names another one. */
export function StartedBy({ actor }: { actor: Actor }) {
  const own = useSession()?.user.id;
  const isRemoved = useIsRemoved(actor.type === "user" && actor.id !== own);
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
