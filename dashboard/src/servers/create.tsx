// The form that creates a server.
import Alert from "@cloudscape-design/components/alert";
import SpaceBetween from "@cloudscape-design/components/space-between";
import Spinner from "@cloudscape-design/components/spinner";
import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearchParams } from "react-router";
import type { Catalog } from "../../../shared/api/catalog.ts";
import { create, type Server } from "../../../shared/api/servers.ts";
import { client } from "../app/client.ts";
import { Failure } from "../app/failure.tsx";
import { Page } from "../app/page.tsx";
import { catalog, defaults, servers } from "../app/queries.ts";
import { isMissing } from "../app/words.ts";
import { text } from "../messages/text.ts";
import { deleteFirst } from "../operations/delete-first.ts";
import { labelsInBody, CarriedLabels } from "../resource/list/carried-labels.tsx";
import { Forecast } from "../resource/dialog/forecast.tsx";
import { Form, TextField } from "../resource/form/form.tsx";
import { useWasEver } from "../resource/page/use-was-ever.ts";
import { useForm } from "../resource/form/use-form.ts";
import { SshKeyField } from "../ssh-keys/field.tsx";
import { OfferFields, OrderInWords, preselected } from "./offer-fields.tsx";

const { body: serverBody } = create();

export default function CreateServer() {
  const offered = useQuery(catalog());
  const preset = useQuery(defaults());
  const [search] = useSearchParams();
  const [like, again] = [search.get("like"), search.get("again")];
  const modelId = again ?? like;
  const model = useQuery({ ...servers.one(modelId ?? ""), enabled: ({ state }) => modelId !== null && !isMissing(state.error) });
  const wasShown = useWasEver(!model.isLoading);
  const failed = offered.error ?? preset.error;
  return (
    <Page title={text.servers.create} above={[{ text: text.servers.title, href: "/servers" }]}>
      {offered.data !== undefined && preset.data !== undefined && wasShown ? (
        <ServerForm
          key={modelId}
          offered={offered.data.data}
          defaults={preset.data.data}
          model={model.data?.data}
          failed={again === null ? undefined : model.data?.data}
        />
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
  /** What failed, and is deleted first: it holds the name. */
  failed: Server | undefined;
}

function ServerForm({ offered, defaults, model, failed }: Props) {
  const say = text.servers.fields;
  const navigate = useNavigate();
  const form = useForm({
    of: failed?.id ?? "",
    initial: {
      name: failed?.name ?? "",
      ...(model === undefined
        ? { ...preselected(offered.providers, defaults), ssh_key_id: "" }
        : { provider: model.provider, region: model.region, size: model.size, ssh_key_id: model.ssh_key_id }),
    },
    schema: serverBody,
    body: (values) => ({ ...values, ...labelsInBody(model?.labels) }),
    send: async (body, idempotencyKey) => {
      if (failed !== undefined) await deleteFirst(() => client.servers.delete({ params: { id: failed.id } }));
      return client.servers.create({ body, idempotencyKey });
    },
    done: ({ data }) => void navigate(`/servers/${data.id}`),
  });
  return (
    <Form form={form} submit={text.servers.create} onCancel={() => void navigate("/servers")}>
      {failed !== undefined && <DeletesFirst failed={failed} />}
      <TextField label={say.name} description={say.nameAbout} hint={say.nameHint} autoFocus {...form.text("name")} />
      <OfferFields providers={offered.providers} chosen={form.values} error={form.error} onChange={form.set} />
      <SshKeyField
        chosen={form.values.ssh_key_id}
        error={form.error("ssh_key_id")}
        onChange={(ssh_key_id) => form.set({ ssh_key_id })}
      />
      <CarriedLabels of={model?.labels} />
      <OrderInWords providers={offered.providers} chosen={form.values} />
    </Form>
  );
}

function DeletesFirst({ failed: { id, name } }: { failed: Server }) {
  return (
    <SpaceBetween size="s">
      <Alert type="warning">{text.servers.deletesFirst(name)}</Alert>
      <Forecast rehearse={() => client.servers.delete.dryRun({ params: { id } })} of={[id]} returns={false} />
    </SpaceBetween>
  );
}
