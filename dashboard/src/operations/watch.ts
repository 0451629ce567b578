// Follows all operations with one request at a time: while something runs, while the page is looked at, and never else.
import { useQuery } from "@tanstack/react-query";
import { useEffect } from "react";
import type { Operation } from "../../../shared/api/operations.ts";
import { isOpen, watch } from "./watch-store.ts";

/** For the shell, once. */
export function useWatch(): void {
  const { data, dataUpdatedAt } = useQuery(watch.query);
  useEffect(() => {
    if (data !== undefined) watch.notice(data);
  }, [data, dataUpdatedAt]);
  useEffect(() => watch.connect(), []);
}

/** Whether what runs cannot be looked at now: what is shown of it is as old as the last response. */
export const useWatchFailed = (): boolean => useQuery({ ...watch.query, enabled: false }).isError;

/** An operation as it stands now, if the watch has seen it. */
export const useOperation = (id: string | null): Operation | undefined => useSeen().find((operation) => operation.id === id);

/** All that runs now, newest first. */
export const useRunning = (): readonly Operation[] => useSeen().filter(isOpen);

/** Only reads: a second watch would ask on its own. With all options of the first, because those set last hold for both. */
const useSeen = (): readonly Operation[] => useQuery({ ...watch.query, enabled: false }).data ?? [];
