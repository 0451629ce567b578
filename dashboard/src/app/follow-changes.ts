// Fetches the page again when something has changed in the account, whoever changed it: asks every 30 s while the page is visible.
import { useQuery } from "@tanstack/react-query";
import { useEffect, useRef } from "react";
import { overview } from "./queries.ts";
import { isRefreshing, refresh } from "./query-client.ts";

const EVERY_MS = 30_000;

export function useFollowChanges(): void {
  const { data } = useQuery({ ...overview(), refetchInterval: EVERY_MS, staleTime: EVERY_MS, retry: false });
  const revision = data?.data.revision;
  const seen = useRef(revision);
  useEffect(() => {
    if (seen.current !== undefined && revision !== undefined && seen.current !== revision && !isRefreshing()) void refresh();
    seen.current = revision;
  }, [revision]);
}
