// The page of a server, with what can be done with many of its instances at once.
import ServerDetail from "../servers/detail.tsx";
import { InstancesBulk } from "./bulk.tsx";

export default function ServerWithInstances() {
  return <ServerDetail bulk={InstancesBulk} />;
}
