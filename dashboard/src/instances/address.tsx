// A link to an instance, which opens in a new tab. Where there is too little room, its domain continues in the next line.
import CloudscapeLink from "@cloudscape-design/components/link";
import type { Instance } from "../../../shared/api/instances.ts";
import { text } from "../messages/text.ts";

export function Address({ of: { url, domain } }: { of: Pick<Instance, "url" | "domain"> }) {
  const [host = "", ...rest] = domain.split(".");
  return (
    <CloudscapeLink href={url} external externalIconAriaLabel={text.app.newTab}>
      {host}
      <wbr />
      {rest.map((part) => `.${part}`)}
    </CloudscapeLink>
  );
}
