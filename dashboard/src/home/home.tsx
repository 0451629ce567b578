// The home page: whether instances are protected, counts, operations in progress, recent failures, and the first steps of a new account.
import Grid from "@cloudscape-design/components/grid";
import SpaceBetween from "@cloudscape-design/components/space-between";
import Spinner from "@cloudscape-design/components/spinner";
import { useQuery } from "@tanstack/react-query";
import { Failure } from "../app/failure.tsx";
import { Page } from "../app/page.tsx";
import { instances } from "../app/queries.ts";
import { text } from "../messages/text.ts";
import { Updated } from "../resource/updated.tsx";
import { Counts } from "./counts.tsx";
import { Failed } from "./failed.tsx";
import { LowDisks } from "./low-disks.tsx";
import { Protection } from "./protection.tsx";
import { FirstSteps, isUnprotected } from "./first-steps.tsx";
import { Running } from "./running.tsx";
import { useTallies } from "./use-tally.ts";

const HALF = { colspan: { default: 12, s: 6 } } as const;
const THIRD = { colspan: { default: 12, xs: 4 } } as const;
const QUARTER = { colspan: { default: 12, xs: 6, s: 3 } } as const;

export default function Home() {
  const { tallies, updatedAt, error, retry } = useTallies();
  const single = tallies?.instances.total === 1;
  const only = useQuery({ ...instances.list({ per_page: 1 }), enabled: single });
  if (tallies === undefined || (single && only.isPending))
    return (
      <Page title={text.home.title}>{error === null ? <Spinner size="large" /> : <Failure error={error} retry={retry} />}</Page>
    );
  const { servers, backups, protection } = tallies;
  const instance = single ? only.data?.data[0] : undefined;
  const first = instance !== undefined && isUnprotected(instance) ? instance : undefined;
  const isKnown = protection !== undefined && tallies.instances.total > 0;
  const fresh = tallies.instances.total === 0 && backups.total === 0;
  return (
    <Page title={text.home.title} actions={<Updated at={updatedAt} />}>
      {Object.values(tallies.lowDisks).some((count) => count > 0) && <LowDisks of={tallies.lowDisks} />}
      {(fresh || first !== undefined) && <FirstSteps servers={servers} instance={first} />}
      {!(fresh && servers.total === 0) && (
        <SpaceBetween size="l">
          <Grid gridDefinition={isKnown ? [QUARTER, QUARTER, QUARTER, QUARTER] : [THIRD, THIRD, THIRD]}>
            {isKnown && <Protection counts={protection} />}
            <Counts of="server" title={text.home.servers} href="/servers" tally={servers} />
            <Counts of="instance" title={text.home.instances} href="/instances" tally={tallies.instances} />
            <Counts of="backup" title={text.home.backups} href="/backups" tally={backups} />
          </Grid>
          <Grid gridDefinition={[HALF, HALF]}>
            <Running />
            <Failed />
          </Grid>
        </SpaceBetween>
      )}
    </Page>
  );
}
