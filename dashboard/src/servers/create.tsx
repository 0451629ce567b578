// The form that creates a server.
import Spinner from "@cloudscape-design/components/spinner";
import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "react-router";
import { api } from "../../../shared/api/index.ts";
import type { Catalog } from "../../../shared/api/catalog.ts";
import { client } from "../app/client.ts";
import { Failure } from "../app/failure.tsx";
import { Page } from "../app/page.tsx";
import { catalog, settings } from "../app/queries.ts";
import { Form, TextField } from "../resource/form.tsx";
import { useForm } from "../resource/use-form.ts";
import { SshKeyField } from "../ssh-keys/field.tsx";
import { OfferFields, preselected } from "./offer-fields.tsx";

const ABOVE = [{ text: "Servers", href: "/servers" }];

export default function CreateServer() {
  const offered = useQuery(catalog());
  const defaults = useQuery(settings());
  const failed = offered.error ?? defaults.error;
  return (
    <Page title="Create server" above={ABOVE}>
      {offered.data !== undefined && defaults.data !== undefined ? (
        <ServerForm offered={offered.data.data} defaults={defaults.data.data} />
      ) : failed === null ? (
        <Spinner size="large" />
      ) : (
        <Failure error={failed} retry={() => void Promise.all([offered.refetch(), defaults.refetch()])} />
      )}
    </Page>
  );
}

interface Props {
  offered: Catalog;
  defaults: Parameters<typeof preselected>[1];
}

function ServerForm({ offered, defaults }: Props) {
  const navigate = useNavigate();
  const form = useForm({
    initial: {
      name: "",
      ...preselected(offered.providers, defaults),
      ssh_key_id: "",
    },
    schema: api.servers.create.body,
    body: (values) => values,
    send: (body, idempotencyKey) => client.servers.create({ body, idempotencyKey }),
    done: ({ data }) => void navigate(`/servers/${data.id}`),
  });
  return (
    <Form form={form} submit="Create server" onCancel={() => void navigate("/servers")}>
      <TextField
        label="Name"
        description="Used as the machine's hostname."
        hint="1–63 lowercase letters, numbers and hyphens. Can't start or end with a hyphen."
        autoFocus
        {...form.text("name")}
      />
      <OfferFields providers={offered.providers} chosen={form.values} error={form.error} onChange={form.set} />
      <SshKeyField
        chosen={form.values.ssh_key_id}
        error={form.error("ssh_key_id")}
        onChange={(ssh_key_id) => form.set({ ssh_key_id })}
      />
    </Form>
  );
}
