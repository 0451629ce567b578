// A link to an instance, which opens in a new tab.
import CloudscapeLink from "@cloudscape-design/components/link";
import type { Instance } from "../../../shared/api/instances.ts";

export function Address({ of: { url, domain } }: { of: Pick<Instance, "url" | "domain"> }) {
  return (
    <CloudscapeLink href={url} external externalIconAriaLabel="Opens in a new tab">
      {domain}
    </CloudscapeLink>
  );
}
