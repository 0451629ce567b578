// The home page: whether instances are protected, counts, operations in progress, recent failures, and the first steps of a new account.
import Grid from "@cloudscape-design/components/grid";
import SpaceBetween from "@cloudscape-design/components/space-between";
import Spinner from "@cloudscape-design/components/spinner";
import { Page } from "../app/page.tsx";
import { backups, instances, servers } from "../app/queries.ts";
import { Counts } from "./counts.tsx";
import { Failed } from "./failed.tsx";
import { Protection } from "./protection.tsx";
import { FirstSteps } from "./first-steps.tsx";
import { Running } from "./running.tsx";
import { useTally } from "./use-tally.ts";

const THIRD = { colspan: { default: 12, xs: 4 } };

export default function Home() {
  const [ofServers, ofInstances, ofBackups] = [
    useTally("server", servers.list),
    useTally("instance", instances.list),
    useTally("backup", backups.list),
  ];
  const all = [ofServers, ofInstances, ofBackups];
  const waiting = all.some(({ tally, error }) => tally === undefined && error === null);
  const known = { servers: ofServers.tally, instances: ofInstances.tally, backups: ofBackups.tally };
  const fresh = known.instances?.total === 0 && known.backups?.total === 0 ? known.servers : undefined;
  if (waiting)
    return (
      <Page title="Home">
        <Spinner size="large" />
      </Page>
    );
  return (
    <Page title="Home">
      {fresh !== undefined && <FirstSteps servers={fresh.items} />}
      {fresh?.total !== 0 && (
        <SpaceBetween size="l">
          {known.instances !== undefined && known.instances.total > 0 && <Protection tally={known.instances} />}
          <Grid gridDefinition={[THIRD, THIRD, THIRD]}>
            <Counts of="server" title="Servers" href="/servers" counted={ofServers} />
            <Counts of="instance" title="Instances" href="/instances" counted={ofInstances} />
            <Counts of="backup" title="Backups" href="/backups" counted={ofBackups} />
          </Grid>
          <Running known={known} />
          <Failed known={known} />
        </SpaceBetween>
      )}
    </Page>
  );
}
