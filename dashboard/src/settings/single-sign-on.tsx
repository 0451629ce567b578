// Single sign-on of the account, for its owners: the identity provider, and the domains whose people sign in with it.
import Box from "@cloudscape-design/components/box";
import Button from "@cloudscape-design/components/button";
import Checkbox from "@cloudscape-design/components/checkbox";
import FormField from "@cloudscape-design/components/form-field";
import Select from "@cloudscape-design/components/select";
import SpaceBetween from "@cloudscape-design/components/space-between";
import Spinner from "@cloudscape-design/components/spinner";
import StatusIndicator from "@cloudscape-design/components/status-indicator";
import Textarea from "@cloudscape-design/components/textarea";
import { useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { type Sso, SSO_ROLES, type SsoDomain, type SsoRole, update } from "../../../shared/api/sso.ts";
import { client } from "../app/client.ts";
import { Failure, FailureNote } from "../app/failure.tsx";
import { notify } from "../app/notifications.ts";
import { sso as ssoQuestion } from "../app/queries.ts";
import { queryClient } from "../app/query-client.ts";
import { isMissing } from "../app/words.ts";
import { text } from "../messages/text.ts";
import { AsciiAndUnicode } from "../resource/words/ascii-and-unicode.tsx";
import { Copyable } from "../resource/words/copyable.tsx";
import { Deletion } from "../resource/dialog/deletion.tsx";
import { Form, TextField } from "../resource/form/form.tsx";
import { useEditForm } from "../resource/form/use-edit-form.ts";
import { useWasEver } from "../resource/page/use-was-ever.ts";
import { textOrUndefined } from "../resource/form/use-form.ts";
import { Section } from "../resource/page/section.tsx";
import { Wrapped } from "../resource/words/wrapped.tsx";

const { body: ssoBody } = update();

const reload = (): Promise<void> => queryClient.resetQueries({ queryKey: ssoQuestion().queryKey });

export function SingleSignOn() {
  const say = text.settings.sso;
  const ssoQuery = useQuery({ ...ssoQuestion(), retry: (count, error) => !isMissing(error) && count < 2 });
  // The form asks again when it is shown: it stays meanwhile.
  const wasNone = useWasEver(isMissing(ssoQuery.error));
  const [removing, setRemoving] = useState(false);
  const [removals, setRemovals] = useState(0);
  const sso = isMissing(ssoQuery.error) ? undefined : ssoQuery.data?.data;
  return (
    <Section
      title={say.title}
      description={say.about}
      actions={sso !== undefined && <Button onClick={() => setRemoving(true)}>{say.remove}</Button>}
    >
      {sso !== undefined || wasNone ? (
        <SpaceBetween size="l">
          {sso !== undefined && <Domains of={sso} />}
          {/* What somebody else removes stays in the form until the user has decided; the user's own removal empties it. */}
          <SsoForm key={removals} sso={sso} />
        </SpaceBetween>
      ) : ssoQuery.error === null ? (
        <Spinner />
      ) : (
        <Failure error={ssoQuery.error} retry={() => void ssoQuery.refetch()} />
      )}
      {removing && (
        <Remove
          etag={ssoQuery.data?.etag}
          onRemoved={() => setRemovals((count) => count + 1)}
          onDismiss={() => setRemoving(false)}
        />
      )}
    </Section>
  );
}

interface Values {
  issuer: string;
  client_id: string;
  client_secret: string;
  domains: string;
  default_role: SsoRole;
  role_claim: string;
  roles: string;
  required: boolean;
}

const toValues = (sso: Sso | undefined): Values => ({
  issuer: sso?.issuer ?? "",
  client_id: sso?.client_id ?? "",
  client_secret: "",
  domains: (sso?.domains ?? []).map(inUnicode).join(", "),
  default_role: sso?.default_role ?? "viewer",
  role_claim: sso?.role_claim ?? "",
  roles: Object.entries(sso?.roles ?? {})
    .map(([value, role]) => `${value}: ${role}`)
    .join("\n"),
  required: sso?.required ?? false,
});

/** An older service sends no `name_unicode`. */
const inUnicode = ({ name, name_unicode = name }: Pick<SsoDomain, "name"> & Partial<SsoDomain>): string => name_unicode;

/** The role is what follows the last colon; the schema says whether it is one. */
function rolesIn(typed: string): Record<string, SsoRole> {
  const lines = typed.split("\n").map((line) => line.trim());
  const entries = lines.filter(Boolean).map((line) => {
    const at = line.lastIndexOf(":");
    return at < 0 ? [line, ""] : [line.slice(0, at).trim(), line.slice(at + 1).trim()];
  });
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the form's schema checks what was typed
  return Object.fromEntries(entries) as Record<string, SsoRole>;
}

const toBody = ({ client_secret, domains, role_claim, roles, ...values }: Values) => {
  const secret = textOrUndefined(client_secret);
  return {
    ...values,
    issuer: values.issuer.trim(),
    client_id: values.client_id.trim(),
    ...(secret !== undefined && { client_secret: secret }),
    domains: domains
      .split(/[,;\s]+/)
      .filter(Boolean)
      .map((name) => ({ name })),
    role_claim: textOrUndefined(role_claim) ?? null,
    roles: rolesIn(roles),
  };
};

/** The values in words, for showing what somebody else has changed. */
function describe(values: Values): Record<string, string> {
  const say = text.settings.sso;
  return {
    [say.issuer]: values.issuer,
    [say.clientId]: values.client_id,
    [say.domains]: values.domains,
    [say.role]: text.people.roles[values.default_role].name,
    [say.claim]: values.role_claim,
    [say.roles]: values.roles,
    [say.required]: values.required ? text.resource.conflict.yes : text.resource.conflict.no,
  };
}

function SsoForm({ sso }: { sso: Sso | undefined }) {
  const say = text.settings.sso;
  const form = useEditForm({
    record: sso,
    question: ssoQuestion(),
    values: toValues,
    describe,
    isWhole: true,
    creates: true,
    schema: ssoBody,
    body: toBody,
    send: (_changed, version, body) => client.sso.update({ body, ...version }),
    done: () => {
      notify({ id: "sso", type: "success", header: say.saved });
      void reload();
    },
  });
  const { values } = form;
  return (
    <Form form={form} submit={say.save} boxed={false} needs={["owner"]}>
      {sso !== undefined && (
        <FormField label={say.redirect} description={say.redirectAbout}>
          <Copyable value={sso.redirect_uri} valueName={say.redirect} code />
        </FormField>
      )}
      <TextField label={say.issuer} description={say.issuerAbout} {...form.text("issuer")} />
      <TextField label={say.clientId} {...form.text("client_id")} />
      <TextField label={say.clientSecret} description={say.secretAbout} type="password" {...form.text("client_secret")} />
      <TextField label={say.domains} description={say.domainsAbout} hint={say.domainsHint} {...form.text("domains")} />
      <FormField label={say.role} description={say.roleAbout} errorText={form.error("default_role")}>
        <Select
          options={SSO_ROLES.map((value) => ({ value, label: text.people.roles[value].name }))}
          selectedOption={{ value: values.default_role, label: text.people.roles[values.default_role].name }}
          onChange={({ detail }) => {
            const role = SSO_ROLES.find((each) => each === detail.selectedOption.value);
            if (role !== undefined) form.set({ default_role: role });
          }}
        />
      </FormField>
      <TextField label={say.claim} optional description={say.claimAbout} {...form.text("role_claim")} />
      <FormField label={text.resource.form.optional(say.roles)} description={say.rolesAbout} errorText={form.error("roles")}>
        <Textarea value={values.roles} rows={3} spellcheck={false} onChange={({ detail }) => form.set({ roles: detail.value })} />
      </FormField>
      <Checkbox
        checked={values.required}
        description={say.requiredAbout}
        onChange={({ detail }) => form.set({ required: detail.checked })}
      >
        {say.required}
      </Checkbox>
    </Form>
  );
}

function Domains({ of: { domains } }: { of: Sso }) {
  return (
    <ul className="sessions" aria-label={text.settings.sso.domains}>
      {domains.map((domain) => (
        <Domain key={domain.name} domain={domain} />
      ))}
    </ul>
  );
}

function Domain({ domain }: { domain: SsoDomain }) {
  const { name, verified, txt_record } = domain;
  const say = text.settings.sso;
  const unicode = inUnicode(domain);
  const verifying = useMutation({
    mutationFn: () => client.sso.verifyDomain({ params: { name }, body: {} }),
    onSuccess: () => {
      notify({ id: `sso-${name}`, type: "success", header: say.verifiedNow(unicode) });
      return reload();
    },
    onError: (error) =>
      notify({ id: `sso-${name}`, type: "error", header: say.notVerified(unicode), content: <FailureNote error={error} /> }),
  });
  return (
    <li>
      <div>
        <Wrapped>
          <AsciiAndUnicode ascii={name} unicode={unicode} />
        </Wrapped>{" "}
        <StatusIndicator type={verified ? "success" : "pending"}>{verified ? say.verified : say.unverified}</StatusIndicator>
        {!verified && (
          <Box variant="small" display="block">
            {say.txtAbout} <Copyable value={txt_record} valueName={say.txt} code />
          </Box>
        )}
      </div>
      {!verified && (
        <Button
          loading={verifying.isPending}
          ariaLabel={text.resource.list.act(say.verify, unicode)}
          onClick={() => verifying.mutate()}
        >
          {say.verify}
        </Button>
      )}
    </li>
  );
}

interface RemoveProps {
  etag: string | undefined;
  onRemoved: () => void;
  onDismiss: () => void;
}

function Remove({ etag, onRemoved, onDismiss }: RemoveProps) {
  const say = text.settings.sso;
  return (
    <Deletion
      of="sso"
      title={say.remove}
      confirm={say.remove}
      send={() => client.sso.delete(etag === undefined ? {} : { ifMatch: etag })}
      onDeleted={() => {
        notify({ id: "sso", type: "success", header: say.removed });
        onRemoved();
        onDismiss();
        void reload();
      }}
      onDismiss={onDismiss}
    >
      {say.removeAbout}
    </Deletion>
  );
}
