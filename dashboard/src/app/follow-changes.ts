// Fetches the page again when something has changed in the account, whoever changed it: asks every 30 s while the page is
// visible, and when the user comes back to it.
import { useQuery } from "@tanstack/react-query";
import { useEffect } from "react";
import { recoverAfter } from "./connection.ts";
import { overview } from "./queries.ts";
import { catchUp } from "./query-client.ts";

export const FOLLOW_EVERY_MS = 30_000;

export function useFollowChanges(): void {
  const { data } = useQuery({
    ...overview(),
    refetchInterval: ({ state }) => recoverAfter(state.error) || FOLLOW_EVERY_MS,
    staleTime: FOLLOW_EVERY_MS,
    refetchOnWindowFocus: "always",
    retry: false,
  });
  useEffect(() => {
    if (data !== undefined) void catchUp(data.data);
  }, [data]);
}
