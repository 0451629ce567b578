// The title in the browser's tab: the page and, in the sandbox, that nothing on it is real.
import { useQuery } from "@tanstack/react-query";
import { useEffect } from "react";
import type { Deployment } from "./deployment.ts";
import { deployment } from "./queries.ts";

export const PRODUCT = "ERP control plane";

export function useTitle(page: string): void {
  const environment = useEnvironment();
  useEffect(() => {
    document.title = `${environment === "test" ? "TEST: " : ""}${page} · ${PRODUCT}`;
  }, [environment, page]);
}

/** Undefined until the page has read it from the file beside it, so that a service that is down hides nothing. */
export const useEnvironment = (): Deployment["environment"] | undefined => useQuery(deployment()).data?.environment;
