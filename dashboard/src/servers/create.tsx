// The form that creates a server.
import Spinner from "@cloudscape-design/components/spinner";
import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearchParams } from "react-router";
import type { Catalog } from "../../../shared/api/catalog.ts";
import { create, type Server } from "../../../shared/api/servers.ts";
import { client } from "../app/client.ts";
import { Failure } from "../app/failure.tsx";
import { Page } from "../app/page.tsx";
import { catalog, defaults, servers } from "../app/queries.ts";
import { text } from "../messages/text.ts";
import { Form, TextField } from "../resource/form.tsx";
import { useEver } from "../resource/use-ever.ts";
import { useForm } from "../resource/use-form.ts";
import { SshKeyField } from "../ssh-keys/field.tsx";
import { OfferFields, OrderInWords, preselected } from "./offer-fields.tsx";

const { body: serverBody } = create();

export default function CreateServer() {
  const offered = useQuery(catalog());
  const preset = useQuery(defaults());
  const like = useSearchParams()[0].get("like");
  const model = useQuery({ ...servers.one(like ?? ""), enabled: like !== null });
  const shown = useEver(!model.isLoading);
  const failed = offered.error ?? preset.error;
  return (
    <Page title={text.servers.create} above={[{ text: text.servers.title, href: "/servers" }]}>
      {offered.data !== undefined && preset.data !== undefined && shown ? (
        <ServerForm offered={offered.data.data} defaults={preset.data.data} model={model.data?.data} />
      ) : failed === null ? (
        <Spinner size="large" />
      ) : (
        <Failure error={failed} retry={() => void Promise.all([offered.refetch(), preset.refetch()])} />
      )}
    </Page>
  );
}

interface Props {
  offered: Catalog;
  defaults: Parameters<typeof preselected>[1];
  /** A server to create another one like. */
  model: Server | undefined;
}

function ServerForm({ offered, defaults, model }: Props) {
  const say = text.servers.fields;
  const navigate = useNavigate();
  const form = useForm({
    initial: {
      name: "",
      ...(model === undefined
        ? { ...preselected(offered.providers, defaults), ssh_key_id: "" }
        : { provider: model.provider, region: model.region, size: model.size, ssh_key_id: model.ssh_key_id }),
    },
    schema: serverBody,
    body: (values) => values,
    send: (body, idempotencyKey) => client.servers.create({ body, idempotencyKey }),
    done: ({ data }) => void navigate(`/servers/${data.id}`),
  });
  return (
    <Form form={form} submit={text.servers.create} onCancel={() => void navigate("/servers")}>
      <TextField label={say.name} description={say.nameAbout} hint={say.nameHint} autoFocus {...form.text("name")} />
      <OfferFields providers={offered.providers} chosen={form.values} error={form.error} onChange={form.set} />
      <SshKeyField
        chosen={form.values.ssh_key_id}
        error={form.error("ssh_key_id")}
        onChange={(ssh_key_id) => form.set({ ssh_key_id })}
      />
      <OrderInWords providers={offered.providers} chosen={form.values} />
    </Form>
  );
}
