// The title in the browser's tab: the page and, in the sandbox, that nothing on it is real.
import { useEffect } from "react";
import { text } from "../messages/text.ts";
import { type Deployment, useDeployment } from "./deployment.ts";
import { useProduct } from "./brand.ts";

export function useTitle(page: string): void {
  const environment = useEnvironment();
  const product = useProduct();
  useEffect(() => {
    document.title = `${environment === "test" ? text.app.testTitle(page) : page}${product === "" ? "" : ` · ${product}`}`;
  }, [environment, page, product]);
}

/** Undefined until the page has read it from the file beside it, so that a service that is down hides nothing. */
export const useEnvironment = (): Deployment["environment"] | undefined => useDeployment()?.environment;
