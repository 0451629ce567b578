// Follows all operations with one request at a time: only during operations, and only while the page is visible.
import { useQuery } from "@tanstack/react-query";
import { useEffect } from "react";
import type { Operation } from "../../../shared/api/operations.ts";
import { isOpen, watch } from "./watch-store.ts";

/** Used once, by the shell. */
export function useWatch(): void {
  const { data, dataUpdatedAt } = useQuery(watch.query);
  useEffect(() => {
    if (data !== undefined) watch.notice(data);
  }, [data, dataUpdatedAt]);
  useEffect(() => watch.connect(), []);
}

/** Whether the progress is unavailable: the page then shows the last response. */
export const useWatchFailed = (): boolean => useQuery({ ...watch.query, enabled: false }).isError;

/** The last known state of an operation, if the watch has seen it. */
export const useOperation = (id: string | null): Operation | undefined => useSeen().find((operation) => operation.id === id);

/** All operations in progress, newest first. */
export const useRunning = (): readonly Operation[] => useSeen().filter(isOpen);

/**
 * Only reads: a second watch would send its own requests. It has all options of the first, because those set last apply to both.
 */
const useSeen = (): readonly Operation[] => useQuery({ ...watch.query, enabled: false }).data ?? [];
