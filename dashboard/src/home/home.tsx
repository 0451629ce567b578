// The home page: what needs the user, the backups of the last nights, disks that fill up, counts, operations in progress; and the
// first steps of a new account.
import Grid from "@cloudscape-design/components/grid";
import SpaceBetween from "@cloudscape-design/components/space-between";
import Spinner from "@cloudscape-design/components/spinner";
import { useQuery } from "@tanstack/react-query";
import { Failure } from "../app/failure.tsx";
import { lazily } from "../app/lazily.tsx";
import { useMay } from "../app/may.tsx";
import { Page } from "../app/page.tsx";
import { instances } from "../app/queries.ts";
import { text } from "../messages/text.ts";
import { OnDemand } from "../resource/page/on-demand.tsx";
import { Updated } from "../resource/list/updated.tsx";
import { Counts } from "./counts.tsx";
import { LowDisks } from "./low-disks.tsx";
import { Protection } from "./protection.tsx";
import { FirstSteps, isUnprotected } from "./first-steps.tsx";
import { useNeeds } from "./needs.ts";
import { NeedsYou } from "./needs-you.tsx";
import { Running } from "./running.tsx";
import { type Tallies, useTallies } from "./use-tally.ts";

const Nights = lazily(async () => (await import("./nights.tsx")).Nights, "backups");

const Worst = lazily(async () => (await import("./worst.tsx")).Worst, "metrics");

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
  const { servers, backups } = tallies;
  const instance = single ? only.data?.data[0] : undefined;
  const first = instance !== undefined && isUnprotected(instance) ? instance : undefined;
  const fresh = tallies.instances.total === 0 && backups.total === 0;
  return (
    <Page title={text.home.title} actions={<Updated at={updatedAt} />}>
      {(fresh || first !== undefined) && <FirstSteps servers={servers} instance={first} />}
      {!(fresh && servers.total === 0) && <Glance tallies={tallies} isFirst={first !== undefined} />}
    </Page>
  );
}

/** Whether this browser's user has closed the last nights. */
const NIGHTS = "home-nights";

function LastNights({ overdue }: { overdue: number }) {
  const { title, about } = text.home.nights;
  return (
    <OnDemand
      title={title}
      description={about}
      opened={localStorage.getItem(NIGHTS) !== "closed"}
      onChange={(open) => localStorage.setItem(NIGHTS, open ? "open" : "closed")}
    >
      {(close) => <Nights isAnyOverdue={overdue > 0} onClose={close} />}
    </OnDemand>
  );
}

/** `isFirst`: the first steps already lead to the protection of the only instance. */
function Glance({ tallies, isFirst }: { tallies: Tallies; isFirst: boolean }) {
  const { servers, backups, protection } = tallies;
  const needs = useNeeds(tallies);
  const mayCompare = useMay()("servers:read", "instances:read");
  const isKnown = protection !== undefined && tallies.instances.total > 0;
  return (
    <SpaceBetween size="l">
      <NeedsYou
        needs={needs}
        overdue={protection?.overdue ?? 0}
        unprotected={isFirst ? 0 : (protection?.unprotected ?? 0)}
        hints={{ updates: tallies.updates, reboots: tallies.reboots }}
      />
      {backups.total > 0 && <LastNights overdue={protection?.overdue ?? 0} />}
      {needs.lowDisks.length > 0 && <LowDisks of={needs.lowDisks} />}
      {mayCompare && servers.total > 0 && (
        <OnDemand title={text.home.worst.title} description={text.home.worst.about}>
          <Worst />
        </OnDemand>
      )}
      <Grid gridDefinition={isKnown ? [QUARTER, QUARTER, QUARTER, QUARTER] : [THIRD, THIRD, THIRD]}>
        {isKnown && <Protection counts={protection} />}
        <Counts of="server" title={text.home.servers} href="/servers" tally={servers} />
        <Counts of="instance" title={text.home.instances} href="/instances" tally={tallies.instances} />
        <Counts of="backup" title={text.home.backups} href="/backups" tally={backups} />
      </Grid>
      <Running />
    </SpaceBetween>
  );
}
