// An instance's server by its name, or by its ID for an API key that may not read servers.
import type { ServerOf } from "../allowed/instances.ts";
import { Link } from "../app/link.tsx";
import { AsciiAndUnicode } from "../resource/words/ascii-and-unicode.tsx";

export const ServerLink = ({ id, server }: { id: string; server: ServerOf | null | undefined }) => (
  <Link to={`/servers/${id}`}>
    <AsciiAndUnicode ascii={server?.name ?? id} unicode={server?.name_unicode} />
  </Link>
);
