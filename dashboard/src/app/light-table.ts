// A route table without schemas, as JSON can hold it.
import type { Callable } from "../../../shared/api/client-of.ts";
import type { Endpoint } from "../../../shared/api/endpoint.ts";

interface LightEndpoint extends Callable {
  /** API keys cannot be used for it. */
  forSessions: boolean;
}
type LightTable = Record<string, Record<string, LightEndpoint>>;

const lightOf = ({ method, path, list, dryRun, unenveloped, body, access }: Endpoint): LightEndpoint => ({
  method,
  path,
  list,
  dryRun,
  unenveloped,
  body: body === undefined ? undefined : true,
  forSessions: access === "session",
});

export const lightTable = (api: Record<string, Record<string, Endpoint>>): LightTable =>
  Object.fromEntries(
    Object.entries(api).map(([resource, endpoints]) => [
      resource,
      Object.fromEntries(Object.entries(endpoints).map(([name, endpoint]) => [name, lightOf(endpoint)])),
    ]),
  );
