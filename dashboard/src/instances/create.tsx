// The form that installs an ERP on a server.
import Alert from "@cloudscape-design/components/alert";
import Button from "@cloudscape-design/components/button";
import Spinner from "@cloudscape-design/components/spinner";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useNavigate, useSearchParams } from "react-router";
import { api } from "../../../shared/api/index.ts";
import type { Catalog } from "../../../shared/api/catalog.ts";
import { EDITIONS } from "../../../shared/api/instances.ts";
import type { ListedServer } from "../../../shared/api/servers.ts";
import { databaseNameFrom } from "../../../shared/domain/database-name.ts";
import { client } from "../app/client.ts";
import { Failure } from "../app/failure.tsx";
import { useFollow } from "../app/follow.ts";
import { Page } from "../app/page.tsx";
import { catalog, servers } from "../app/queries.ts";
import { isMissing } from "../app/words.ts";
import { Form, TextField } from "../resource/form.tsx";
import { useForm } from "../resource/use-form.ts";
import type { Pages } from "../resource/use-pages.ts";
import { session } from "../session/session.ts";
import { isUsable } from "../allowed/instances.ts";
import { ErpFields } from "./erp-fields.tsx";
import { AfterMaking, type Made } from "./after-making.tsx";
import { NameField } from "./name-field.tsx";
import { ServerField, useActiveServers } from "./server-field.tsx";

const ABOVE = [{ text: "Instances", href: "/instances" }];

export default function CreateInstance() {
  const [search] = useSearchParams();
  const [made, setMade] = useState<Made>();
  const offered = useQuery(catalog());
  const active = useActiveServers();
  const named = search.get("server");
  // The server that a link names may not be on the first page.
  const linked = useQuery({ ...servers.one(named ?? ""), enabled: ({ state }) => named !== null && !isMissing(state.error) });
  const usable = linked.data !== undefined && isUsable(linked.data.data) ? [linked.data.data] : [];
  const failed = offered.error ?? active.error;
  return (
    <Page title="Create instance" above={ABOVE}>
      {offered.data !== undefined && active.total !== undefined && (named === null || !linked.isPending) ? (
        active.total === 0 ? (
          <NoServer />
        ) : (
          <InstanceForm
            offered={offered.data.data}
            active={{ ...active, items: [...usable, ...active.items.filter(({ id }) => id !== usable[0]?.id)] }}
            serverId={chosenOf(active.items, usable[0])}
            onMade={setMade}
          />
        )
      ) : failed === null ? (
        <Spinner size="large" />
      ) : (
        <Failure
          error={failed}
          retry={() => {
            void offered.refetch();
            active.retry();
          }}
        />
      )}
      {made !== undefined && <AfterMaking made={made} />}
    </Page>
  );
}

/** The server that a link named, or the only one. */
function chosenOf(active: readonly { id: string }[], named: { id: string } | undefined): string {
  const [first, second] = active;
  return named?.id ?? (second === undefined ? (first?.id ?? "") : "");
}

function NoServer() {
  return (
    <Alert
      type="info"
      header="No active servers"
      action={
        <Button href="/servers" onFollow={useFollow()}>
          View servers
        </Button>
      }
    >
      Instances run on an active server. Create one, or wait until yours is ready.
    </Alert>
  );
}

interface Props {
  offered: Catalog;
  active: Pages<ListedServer>;
  serverId: string;
  onMade: (made: Made) => void;
}

const useInstanceForm = (offered: Catalog, serverId: string, onMade: Props["onMade"]) =>
  useForm({
    initial: {
      name: "",
      server_id: serverId,
      erp_version: offered.erp_versions.find(({ deprecated }) => !deprecated)?.version ?? "",
      edition: offered.editions[0] ?? EDITIONS[0],
      database_name: "",
      admin_email: session()?.user.email ?? "",
      domain: "",
    },
    schema: api.instances.create.body,
    body: ({ name, domain, admin_email, ...values }) => ({
      ...values,
      name: name.trim(),
      domain: domain.trim().toLowerCase(),
      admin_email: admin_email.trim(),
    }),
    send: (body, idempotencyKey) => client.instances.create({ body, idempotencyKey }),
    done: ({ data }) => onMade(data),
  });

function InstanceForm({ offered, active, serverId, onMade }: Props) {
  const navigate = useNavigate();
  const form = useInstanceForm(offered, serverId, onMade);
  const { name, database_name } = form.values;
  /** Follows the name until the user changes it. */
  const rename = (next: string) =>
    form.set({
      name: next,
      ...(database_name === databaseNameFrom(name) && { database_name: databaseNameFrom(next) }),
    });
  return (
    <Form form={form} submit="Create instance" onCancel={() => void navigate("/instances")}>
      <NameField {...form.text("name")} onChange={rename} />
      <ServerField
        label="Server"
        placeholder="Choose an active server"
        pages={active}
        chosen={form.values.server_id}
        error={form.error("server_id")}
        onChange={(server_id) => form.set({ server_id })}
      />
      <ErpFields offered={offered} chosen={form.values} error={form.error} onChange={form.set} />
      <TextField
        label="Domain"
        description="The address your users open. You'll get the DNS record to create afterwards."
        placeholder="shop.example.com"
        {...form.text("domain")}
      />
      <TextField
        label="Database name"
        hint="Lowercase letters, numbers and underscores; starts with a letter. Can't be changed later."
        {...form.text("database_name")}
      />
      <TextField
        label="Admin email"
        description="The admin signs in to Odoo with this email. We generate a password and show it once."
        type="email"
        {...form.text("admin_email")}
      />
    </Form>
  );
}
