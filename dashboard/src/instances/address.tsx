// A link to an instance, which opens in a new tab.
import CloudscapeLink from "@cloudscape-design/components/link";
import type { Instance } from "../../../shared/api/instances.ts";
import { text } from "../messages/text.ts";

export function Address({ of: { url, domain } }: { of: Pick<Instance, "url" | "domain"> }) {
  return (
    <CloudscapeLink href={url} external externalIconAriaLabel={text.app.newTab}>
      {domain}
    </CloudscapeLink>
  );
}
