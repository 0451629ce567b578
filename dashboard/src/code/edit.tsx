// The dialog that sets an instance's code. What is secret is never shown: a field that is left empty keeps it.
import Button from "@cloudscape-design/components/button";
import Checkbox from "@cloudscape-design/components/checkbox";
import FormField from "@cloudscape-design/components/form-field";
import Header from "@cloudscape-design/components/header";
import Select from "@cloudscape-design/components/select";
import SpaceBetween from "@cloudscape-design/components/space-between";
import Textarea from "@cloudscape-design/components/textarea";
import { type Code, update } from "../../../shared/api/code.ts";
import type { ShownInstance } from "../../../shared/api/instances.ts";
import { client } from "../app/client.ts";
import { notify } from "../app/notifications.ts";
import { code as codes } from "../app/queries.ts";
import { queryClient } from "../app/query-client.ts";
import { text } from "../messages/text.ts";
import { FormDialog } from "../resource/form/form-dialog.tsx";
import { TextField } from "../resource/form/form.tsx";
import { useEditForm } from "../resource/form/use-edit-form.ts";
import { followsNewest, linesIn, wordsIn } from "./words.ts";

const { body: schema } = update();

const ACCESSES = ["public", "deploy_key", "token"] as const;
type Access = (typeof ACCESSES)[number];

interface RepositoryValues {
  url: string;
  ref: string;
  path: string;
  access: Access;
  username: string;
  token: string;
}

interface VariableValues {
  name: string;
  value: string;
  secret: boolean;
}

interface Values {
  repositories: RepositoryValues[];
  packages: string;
  sources: boolean;
  modules: string;
  variables: VariableValues[];
  push: boolean;
  newest: boolean;
}

const toValues = (code: Code): Values => ({
  repositories: code.repositories.map(({ url, ref, path, credential }) => ({
    url,
    ref,
    path: path ?? "",
    access: credential === null ? "public" : credential === "deploy_key" ? "deploy_key" : "token",
    username: credential === null || credential === "deploy_key" ? "" : credential.username,
    token: "",
  })),
  packages: code.python_packages.join("\n"),
  sources: code.allow_source_builds,
  modules: code.install_modules.join("\n"),
  variables: code.environment.map(({ name, value }) => ({ name, value: value ?? "", secret: value === undefined })),
  push: code.auto_deploy === "push",
  newest: followsNewest(code),
});

const toBody = ({ repositories, packages, sources, modules, variables, push, newest }: Values) => ({
  repositories: repositories.map(({ url, ref, path, access, username, token }) => ({
    url: url.trim(),
    ref: ref.trim(),
    path: path.trim() === "" ? null : path.trim(),
    credential:
      access === "public"
        ? null
        : access === "deploy_key"
          ? ("deploy_key" as const)
          : { username: username.trim(), ...(token !== "" && { token }) },
  })),
  python_packages: linesIn(packages),
  allow_source_builds: sources,
  install_modules: wordsIn(modules),
  environment: variables.map(({ name, value, secret }) => ({
    name: name.trim(),
    ...(!secret ? { value } : value !== "" && { secret: value }),
  })),
  auto_deploy: push ? ("push" as const) : ("off" as const),
  image: { follow: newest ? ("newest" as const) : ("pinned" as const) },
});

/** What others changed meanwhile, in words. */
function inWords({ repositories, packages, modules, variables, ...values }: Values): Record<string, string> {
  const say = text.code.form;
  return {
    [say.repositories]: repositories
      .map(({ url, ref, path, access }) => `${url} ${ref} ${path} ${say.accesses[access]}`)
      .join(", "),
    [say.packages]: packages,
    [say.sources]: String(values.sources),
    [say.modules]: modules,
    [say.variables]: variables.map(({ name, value, secret }) => `${name}=${secret ? "…" : value}`).join(", "),
    [say.push]: String(values.push),
    [say.newest]: String(values.newest),
  };
}

interface Props {
  instance: Pick<ShownInstance, "id" | "name">;
  code: Code;
  onDismiss: () => void;
}

export function EditCode({ instance: { id, name }, code, onDismiss }: Props) {
  const say = text.code.form;
  const form = useEditForm({
    of: id,
    record: code,
    question: codes.of(id),
    values: toValues,
    shown: inWords,
    schema,
    body: toBody,
    send: (body, version) => client.code.update({ params: { id }, body, ...version }),
    unchanged: onDismiss,
    done: () => {
      void queryClient.invalidateQueries({ queryKey: ["code"] });
      notify({ id, type: "success", header: say.saved(name) });
      onDismiss();
    },
  });
  const { packages, sources, modules, push, newest } = form.values;
  return (
    <FormDialog title={say.title(name)} form={form} submit={say.save} onDismiss={onDismiss}>
      <Repositories form={form} />
      <FormField label={say.modules} constraintText={say.modulesHint} errorText={form.error("install_modules")}>
        <Textarea
          value={modules}
          rows={2}
          spellcheck={false}
          onChange={({ detail }) => form.set({ modules: detail.value }, "install_modules")}
        />
      </FormField>
      <FormField label={say.packages} constraintText={say.packagesHint} errorText={form.error("python_packages")}>
        <Textarea
          value={packages}
          rows={2}
          spellcheck={false}
          onChange={({ detail }) => form.set({ packages: detail.value }, "python_packages")}
        />
      </FormField>
      <Checkbox checked={sources} description={say.sourcesAbout} onChange={({ detail }) => form.set({ sources: detail.checked })}>
        {say.sources}
      </Checkbox>
      <Variables form={form} />
      <Checkbox checked={push} description={say.pushAbout} onChange={({ detail }) => form.set({ push: detail.checked })}>
        {say.push}
      </Checkbox>
      <Checkbox checked={newest} description={say.newestAbout} onChange={({ detail }) => form.set({ newest: detail.checked })}>
        {say.newest}
      </Checkbox>
    </FormDialog>
  );
}

interface PartProps {
  form: {
    values: Values;
    error: (field: string) => string | undefined;
    set: (news: Partial<Values>, as?: string) => void;
  };
}

const replaced = <T,>(all: readonly T[], index: number, news: Partial<T>): T[] =>
  all.map((each, place) => (place === index ? { ...each, ...news } : each));
const without = <T,>(all: readonly T[], index: number): T[] => all.filter((_, place) => place !== index);

function Repositories({ form }: PartProps) {
  const say = text.code.form;
  const { repositories } = form.values;
  const set = (next: RepositoryValues[]) => form.set({ repositories: next });
  const error = form.error("repositories");
  return (
    <SpaceBetween size="m">
      <FormField label={say.repositories} description={say.repositoriesAbout} errorText={error} />
      {repositories.map((repository, index) => (
        <RepositoryFields
          key={index}
          number={index + 1}
          repository={repository}
          onChange={(news) => set(replaced(repositories, index, news))}
          onRemove={() => set(without(repositories, index))}
        />
      ))}
      <Button
        formAction="none"
        onClick={() => set([...repositories, { url: "", ref: "main", path: "", access: "public", username: "", token: "" }])}
      >
        {say.add}
      </Button>
    </SpaceBetween>
  );
}

interface RepositoryProps {
  number: number;
  repository: RepositoryValues;
  onChange: (news: Partial<RepositoryValues>) => void;
  onRemove: () => void;
}

function RepositoryFields({ number, repository, onChange, onRemove }: RepositoryProps) {
  const say = text.code.form;
  const accesses = ACCESSES.map((value) => ({ value, label: say.accesses[value] }));
  const bind = (field: "url" | "ref" | "path" | "username" | "token") => ({
    value: repository[field],
    error: undefined,
    onChange: (value: string) => onChange({ [field]: value }),
  });
  return (
    <SpaceBetween size="s">
      <Header
        variant="h3"
        actions={<Button formAction="none" iconName="remove" variant="icon" ariaLabel={say.remove(number)} onClick={onRemove} />}
      >
        {say.repository(number)}
      </Header>
      <TextField label={say.url} hint={say.urlHint} {...bind("url")} />
      <TextField label={text.code.repository.ref} {...bind("ref")} />
      <TextField label={say.path} optional {...bind("path")} />
      <FormField label={say.access}>
        <Select
          options={accesses}
          selectedOption={accesses.find(({ value }) => value === repository.access) ?? null}
          onChange={({ detail }) => {
            const access = ACCESSES.find((each) => each === detail.selectedOption.value);
            if (access !== undefined) onChange({ access });
          }}
        />
      </FormField>
      {repository.access === "token" && (
        <>
          <TextField label={say.username} {...bind("username")} />
          <TextField label={say.token} hint={say.tokenHint} type="password" autoComplete="off" {...bind("token")} />
        </>
      )}
    </SpaceBetween>
  );
}

function Variables({ form }: PartProps) {
  const say = text.code.form;
  const { variables } = form.values;
  const set = (next: VariableValues[]) => form.set({ variables: next }, "environment");
  return (
    <SpaceBetween size="m">
      <FormField label={say.variables} errorText={form.error("environment")} />
      {variables.map((variable, index) => (
        <SpaceBetween key={index} size="s">
          <Header
            variant="h3"
            actions={
              <Button
                formAction="none"
                iconName="remove"
                variant="icon"
                ariaLabel={say.removeVariable(index + 1)}
                onClick={() => set(without(variables, index))}
              />
            }
          >
            {say.variable(index + 1)}
          </Header>
          <TextField
            label={say.name}
            value={variable.name}
            error={undefined}
            onChange={(name) => set(replaced(variables, index, { name }))}
          />
          <TextField
            label={say.value}
            value={variable.value}
            error={undefined}
            {...(variable.secret && { type: "password" as const })}
            onChange={(value) => set(replaced(variables, index, { value }))}
          />
          <Checkbox
            checked={variable.secret}
            description={say.secretAbout}
            onChange={({ detail }) => set(replaced(variables, index, { secret: detail.checked }))}
          >
            {say.secret}
          </Checkbox>
        </SpaceBetween>
      ))}
      <Button formAction="none" onClick={() => set([...variables, { name: "", value: "", secret: false }])}>
        {say.addVariable}
      </Button>
    </SpaceBetween>
  );
}
