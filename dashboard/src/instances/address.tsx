// A link to an instance, which opens in a new tab. Where there is too little room, its domain continues in the next line.
import Box from "@cloudscape-design/components/box";
import CloudscapeLink from "@cloudscape-design/components/link";
import type { Instance } from "../../../shared/api/instances.ts";
import { text } from "../messages/text.ts";

/** An older service sends no `domain_unicode`. */
type Addressed = Pick<Instance, "url" | "domain"> & Partial<Pick<Instance, "domain_unicode">>;

/** Shows the address as people read it and, if that is not in ASCII, as the network writes it, too. */
export function Address({ of: { url, domain, domain_unicode = domain } }: { of: Addressed }) {
  const [host = "", ...rest] = domain_unicode.split(".");
  return (
    <>
      <CloudscapeLink href={url} external externalIconAriaLabel={text.app.newTab}>
        {host}
        <wbr />
        {rest.map((part) => `.${part}`)}
      </CloudscapeLink>
      {domain_unicode !== domain && <Box variant="small"> {domain}</Box>}
    </>
  );
}
