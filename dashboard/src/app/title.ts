// The browser's tab says which page and, in the sandbox, that nothing of it is real.
import { useQuery } from "@tanstack/react-query";
import { useEffect } from "react";
import { health } from "./queries.ts";

export const PRODUCT = "ERP control plane";

export function useTitle(page: string): void {
  const environment = useEnvironment();
  useEffect(() => {
    document.title = `${environment === "test" ? "TEST: " : ""}${page} · ${PRODUCT}`;
  }, [environment, page]);
}

/** Undefined until the service has said it. */
export const useEnvironment = (): "live" | "test" | undefined => useQuery(health()).data?.data.environment;
