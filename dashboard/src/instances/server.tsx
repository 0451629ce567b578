// The page of a server, with what can be done with one of its instances, and with many at once.
import ServerDetail from "../servers/detail.tsx";
import { InstancesBulk } from "./bulk.tsx";
import { FiltersOnServer, instanceQuery } from "./filters.tsx";
import { InstanceMenu } from "./menu.tsx";

/** Whatever a link says, they are this server's. */
const NARROWING = { query: instanceQuery, Fields: FiltersOnServer };

export default function ServerWithInstances() {
  return <ServerDetail bulk={InstancesBulk} Menu={InstanceMenu} narrowing={NARROWING} />;
}
