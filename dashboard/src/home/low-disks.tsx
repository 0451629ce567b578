// A warning for each server whose disk is low, the worst first.
import { useQuery } from "@tanstack/react-query";
import { PER_PAGE_MAX } from "../../../shared/domain/limits.ts";
import { servers } from "../app/queries.ts";
import { Link } from "../app/link.tsx";
import { text } from "../messages/text.ts";
import { LowDisk, lowDiskOf } from "../servers/reported.tsx";

/** More would push everything else off the screen. */
const SHOWN = 3;

export function LowDisks() {
  const { data } = useQuery(servers.list({ per_page: PER_PAGE_MAX }));
  const low = (data?.data ?? [])
    .flatMap((server) => {
      const step = lowDiskOf(server);
      return step === null ? [] : [{ server, step }];
    })
    .toSorted((a, b) => a.step - b.step);
  return low
    .slice(0, SHOWN)
    .map(({ server }) => (
      <LowDisk key={server.id} server={server} link={<Link to={`/servers/${server.id}`}>{text.reports.lowDisk.open}</Link>} />
    ));
}
