// Whose dashboard this is: the operator's brand, if one is configured.
import { useEffect } from "react";
import { text } from "../messages/text.ts";
import { type Brand, useDeployment } from "./deployment.ts";

const unbranded = (): Brand => ({ name: text.app.product, logo: null, color: null, support_url: null });

/** Undefined until the page knows it, so that no other name appears before it. */
export function useBrand(): Brand | undefined {
  const deployment = useDeployment();
  return deployment === undefined ? undefined : (deployment?.brand ?? unbranded());
}

export const useProduct = (): string => useBrand()?.name ?? "";

/** The color and the icon of the whole page. Set by a script, because the page's policy allows no inline styles. */
export function useBrandedPage(): void {
  const { color, logo } = useBrand() ?? unbranded();
  useEffect(() => {
    if (color !== null) document.documentElement.style.setProperty("--brand", color);
    const icon = document.querySelector<HTMLLinkElement>('link[rel="icon"]');
    if (logo !== null && icon !== null) icon.href = logo;
  }, [color, logo]);
}
