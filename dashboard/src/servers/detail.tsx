// One server: its details and its instances, its operations; edit, delete.
import Button from "@cloudscape-design/components/button";
import KeyValuePairs from "@cloudscape-design/components/key-value-pairs";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { useQuery } from "@tanstack/react-query";
import { type ComponentType, useState } from "react";
import { useParams, useSearchParams } from "react-router";
import type { ListedInstance } from "../../../shared/api/instances.ts";
import type { Server } from "../../../shared/api/servers.ts";
import { SERVER_ACTIONS, type ServerAction } from "../../../shared/domain/lifecycle.ts";
import { useFollow } from "../app/follow.ts";
import { Link } from "../app/link.tsx";
import { May } from "../app/may.tsx";
import { Page } from "../app/page.tsx";
import { catalog, instances, servers } from "../app/queries.ts";
import { isUsable } from "../allowed/instances.ts";
import { text } from "../messages/text.ts";
import { Progress } from "../operations/progress.tsx";
import { Copyable } from "../resource/words/copyable.tsx";
import { Labels } from "../resource/list/labels.tsx";
import { AsciiAndUnicode } from "../resource/words/ascii-and-unicode.tsx";
import { ListFilters } from "../resource/list/list-filters.tsx";
import { menuColumn } from "../resource/list/list-page.tsx";
import type { Narrowing } from "../resource/list/list-query.ts";
import { Loaded } from "../resource/page/loaded.tsx";
import { PageActions } from "../resource/page/page-actions.tsx";
import { Section } from "../resource/page/section.tsx";
import { Reason } from "../resource/words/reason.tsx";
import { shownOf, Status } from "../resource/words/status.tsx";
import { ResourceTable, type TableProps } from "../resource/list/table.tsx";
import type { Column } from "../resource/list/column.ts";
import { Summary } from "../resource/words/summary.tsx";
import { Tabs, useTab } from "../resource/page/tabs.tsx";
import { Time } from "../resource/words/time.tsx";
import { SERVER_NEEDS } from "../allowed/needs.ts";
import { whyNotAct, whyNotDelete, whyNotRename } from "../allowed/servers.ts";
import { priceInWords } from "./price.ts";
import { LowDisk, reportedFacts } from "./reported.tsx";
import { ServerState } from "./state.tsx";
import { specsInWords } from "./specs.ts";
import { lazily } from "../app/lazily.tsx";
import { MINUTE_MS } from "../../../shared/domain/durations.ts";

const OperationsTable = lazily(async () => (await import("../operations/table.tsx")).OperationsTable, "events");
const Again = lazily(async () => (await import("./again.tsx")).Again);
const ServerMetrics = lazily(async () => (await import("../metrics/charts.tsx")).ServerMetrics, "metrics");
const DeleteServer = lazily(async () => (await import("./delete.tsx")).DeleteServer);
const ResourceAlerts = lazily(async () => (await import("../alerts/resource-alerts.tsx")).ResourceAlerts, "alerts");
const ActOnServer = lazily(async () => (await import("./act.tsx")).ActOnServer);
const EditServer = lazily(async () => (await import("./edit.tsx")).EditServer);

const above = () => [{ text: text.servers.title, href: "/servers" }];

/** The actions on selected instances, and on each, and the filters, which their own folder has. */
interface OfInstances {
  bulk: NonNullable<TableProps<ListedInstance>["bulk"]>;
  Menu: ComponentType<{ instance: ListedInstance }>;
  narrowing: Narrowing;
}

export default function ServerDetail(ofInstances: OfInstances) {
  const { id = "" } = useParams();
  return (
    <Loaded kind={text.servers.one} above={above()} question={servers.one(id)}>
      {(server) => <Shown key={server.id} server={server} {...ofInstances} />}
    </Loaded>
  );
}

const TABS = ["overview", "metrics", "history"] as const;

type Dialog = "edit" | "delete" | "tell" | ServerAction;

function Shown({ server, ...ofInstances }: OfInstances & { server: Server }) {
  const [dialog, setDialog] = useState<Dialog>();
  const [search] = useSearchParams();
  const tab = useTab(TABS, search.has("operations-page") ? "history" : undefined);
  const instancesOnServer = useQuery(instances.onServer({ server_id: server.id, page: 1, per_page: INSTANCES }));
  return (
    <Page
      title={server.name}
      summary={
        <Summary
          facts={[
            { label: text.servers.fields.status, value: <ServerState server={server} /> },
            ...(server.ip_address === null ? [] : [{ label: text.servers.fields.address, value: server.ip_address }]),
            { label: text.servers.fields.size, value: specsInWords(server.specs), minor: true },
          ]}
        />
      }
      above={above()}
      actions={<Actions server={server} instances={instancesOnServer.data?.meta.total} onChoose={setDialog} />}
    >
      <Progress id={server.operation_id} />
      <Reason of={server} action={<Again server={server} onDelete={() => setDialog("delete")} />} />
      <LowDisk server={server} />
      <Tabs
        label={text.servers.tabs.label(server.name)}
        tabs={TABS.map((id) => ({ id, label: text.servers.tabs[id] }))}
        chosen={tab}
      >
        {tab === "overview" && (
          <SpaceBetween size="l">
            <Facts server={server} />
            <InstancesOf server={server} {...ofInstances} />
          </SpaceBetween>
        )}
        {tab === "metrics" && <ServerMetrics server={server} />}
        {tab === "history" && <OperationsTable resourceId={server.id} />}
      </Tabs>
      {dialog !== undefined && <ServerDialog dialog={dialog} server={server} onDismiss={() => setDialog(undefined)} />}
    </Page>
  );
}

interface ActionsProps {
  server: Server;
  /** How many are on it; undefined while that is not known. */
  instances: number | undefined;
  onChoose: (dialog: Dialog) => void;
}

function Actions({ server, instances: count, onChoose }: ActionsProps) {
  const say = text.servers.detail;
  const button = "normal";
  return (
    <PageActions<Dialog>
      actions={[
        { id: "tell", text: text.resource.tell, button, needs: SERVER_NEEDS.tell },
        ...SERVER_ACTIONS.map(
          (id) => ({ id, text: say[id], button, needs: SERVER_NEEDS[id], disabledReason: whyNotAct(server) }) as const,
        ),
        { id: "edit", text: say.edit, button, needs: SERVER_NEEDS.edit, disabledReason: whyNotRename(server) },
        { id: "delete", text: say.delete, button, needs: SERVER_NEEDS.delete, disabledReason: whyNotDelete(server, count) },
      ]}
      onChoose={onChoose}
    />
  );
}

function ServerDialog({ dialog, ...props }: { dialog: Dialog; server: Server; onDismiss: () => void }) {
  const { server, onDismiss } = props;
  if (dialog === "tell") return <ResourceAlerts type="server" id={server.id} name={server.name} onDismiss={onDismiss} />;
  if (dialog === "edit") return <EditServer {...props} />;
  if (dialog === "delete") return <DeleteServer {...props} />;
  return <ActOnServer action={dialog} {...props} />;
}

/** What a server reports is no change that pages follow. */
const SERVER_POLL_MS = MINUTE_MS;

function Facts({ server }: { server: Server }) {
  const say = text.servers.fields;
  useQuery({ ...servers.one(server.id), refetchInterval: SERVER_POLL_MS });
  return (
    <Section title={text.servers.detail.title}>
      <KeyValuePairs
        columns={3}
        minColumnWidth={200}
        items={[
          ...nameFacts(server),
          {
            label: say.address,
            value: server.ip_address === null ? say.noAddress : <Copyable value={server.ip_address} valueName={say.address} />,
          },
          { label: say.lastSeen, value: <Time at={server.last_seen_at} exact none={say.neverSeen} /> },
          ...reportedFacts(server),
          { label: say.created, value: <Time at={server.created_at} exact /> },
          { label: say.provider, value: server.provider },
          { label: say.region, value: server.region },
          { label: say.size, value: `${server.size}: ${specsInWords(server.specs)}` },
          ...usePriceFacts(server),
          { label: say.sshKey, value: <Link to="/settings/ssh-keys">{keyNameOf(server)}</Link> },
          { label: say.labels, value: <Labels of={server.labels} /> },
          { label: say.id, value: <Copyable value={server.id} valueName={say.id} code /> },
        ]}
      />
    </Section>
  );
}

/** What the provider charges for a new one of its size; none if the size is not offered any more, or costs nothing to say. */
function usePriceFacts({ provider, region, size: code }: Pick<Server, "provider" | "region" | "size">) {
  const { data } = useQuery(catalog());
  const size = data?.data.providers.find((each) => each.code === provider)?.sizes.find((each) => each.code === code);
  const price = size && priceInWords(size, region);
  return price === undefined ? [] : [{ label: text.servers.fields.price, value: price }];
}

/** An older service sends no name, and older servers have none. */
const keyNameOf = ({ ssh_key_id, ssh_key_name = null }: Pick<Server, "ssh_key_id"> & Partial<Server>): string =>
  ssh_key_name ?? ssh_key_id;

/** A name in another script: the page's title shows the ASCII form. */
const nameFacts = ({ name, name_unicode = name }: Pick<Server, "name"> & Partial<Server>) =>
  name_unicode === name ? [] : [{ label: text.servers.fields.name, value: name_unicode }];

const INSTANCES = 10;

const FILTERS = { status: "instance", protection: "protection" } as const;

const versionOf = ({ erp_version, edition }: ListedInstance): string => `${erp_version} ${edition}`;

function instanceColumns(Menu: OfInstances["Menu"]): [Column<ListedInstance>, ...Column<ListedInstance>[]] {
  const say = text.servers.instances;
  return [
    {
      id: "name",
      header: say.name,
      cell: ({ id, name }) => <Link to={`/instances/${id}`}>{name}</Link>,
      text: ({ name }) => name,
    },
    {
      id: "status",
      header: say.status,
      cell: ({ status }) => <Status of="instance" status={status} />,
      text: ({ status }) => shownOf("instance", status).word,
    },
    {
      id: "domain",
      header: say.domain,
      cell: ({ domain, domain_unicode }) => <AsciiAndUnicode ascii={domain} unicode={domain_unicode} />,
      text: ({ domain }) => domain,
    },
    { id: "version", header: say.version, cell: versionOf, text: versionOf },
    {
      id: "protection",
      header: say.protection,
      cell: ({ protection }) => <Status of="protection" status={protection.status} />,
      text: ({ protection }) => shownOf("protection", protection.status).word,
    },
    menuColumn((instance) => <Menu instance={instance} />),
  ];
}

function InstancesOf({ server, bulk, Menu, narrowing }: OfInstances & { server: Server }) {
  const say = text.servers.instances;
  const follow = useFollow();
  return (
    <ResourceTable
      title={say.title}
      list={instances.onServer}
      only={{ server_id: server.id }}
      prefix="instances"
      perPage={INSTANCES}
      searchable
      Filters={ListFilters}
      filters={FILTERS}
      narrowing={narrowing}
      bulk={bulk}
      columns={instanceColumns(Menu)}
      empty={say.empty}
      actions={
        <May needs={SERVER_NEEDS.create}>
          <Button
            href={`/instances/create?server=${server.id}`}
            onFollow={follow}
            disabled={!isUsable(server)}
            {...(!isUsable(server) && { disabledReason: say.notActive })}
          >
            {say.create}
          </Button>
        </May>
      }
    />
  );
}
