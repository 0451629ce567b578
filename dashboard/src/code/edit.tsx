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
import {
  accessesFor,
  inWords,
  type RepositoryValues,
  toBody,
  toValues,
  type Values,
  type VariableValues,
  withUrl,
} from "./values.ts";

const { body: schema } = update();

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
    describe: (values) => inWords(values, say),
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
    ownError: (field: string) => string | undefined;
    set: (changes: Partial<Values>, as?: string) => void;
    reset: () => void;
  };
}

const replaced = <T,>(all: readonly T[], index: number, changes: Partial<T>): T[] =>
  all.map((each, position) => (position === index ? { ...each, ...changes } : each));
const without = <T,>(all: readonly T[], index: number): T[] => all.filter((_, position) => position !== index);

function Repositories({ form }: PartProps) {
  const say = text.code.form;
  const { repositories } = form.values;
  const set = (next: RepositoryValues[], as?: string) => form.set({ repositories: next }, as);
  return (
    <SpaceBetween size="m">
      <FormField label={say.repositories} description={say.repositoriesAbout} errorText={form.ownError("repositories")} />
      {repositories.map((repository, index) => (
        <RepositoryFields
          key={index}
          number={index + 1}
          repository={repository}
          error={(field) => form.ownError(`repositories.${index}.${field}`)}
          onChange={(changes, field) => set(replaced(repositories, index, changes), `repositories.${index}.${field}`)}
          onRemove={() => {
            form.reset(); // the errors are those of the entries' places
            set(without(repositories, index));
          }}
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
  error: (field: string) => string | undefined;
  onChange: (changes: Partial<RepositoryValues>, field: string) => void;
  onRemove: () => void;
}

function RepositoryFields({ number, repository, error, onChange, onRemove }: RepositoryProps) {
  const say = text.code.form;
  const accesses = accessesFor(repository).map((value) => ({ value, label: say.accesses[value] }));
  const bind = (name: "url" | "ref" | "path" | "username" | "token", field: string = name) => ({
    value: repository[name],
    error: error(field),
    onChange: (value: string) => onChange(name === "url" ? withUrl(repository, value) : { [name]: value }, field),
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
      <FormField label={say.access} errorText={error("credential")}>
        <Select
          options={accesses}
          selectedOption={accesses.find(({ value }) => value === repository.access) ?? null}
          onChange={({ detail }) => {
            const option = accesses.find(({ value }) => value === detail.selectedOption.value);
            if (option !== undefined) onChange({ access: option.value }, "credential");
          }}
        />
      </FormField>
      {repository.access === "token" && (
        <>
          <TextField label={say.username} {...bind("username", "credential.username")} />
          <TextField
            label={say.token}
            hint={say.tokenHint}
            type="password"
            autoComplete="off"
            {...bind("token", "credential.token")}
          />
        </>
      )}
    </SpaceBetween>
  );
}

function Variables({ form }: PartProps) {
  const say = text.code.form;
  const { environment: variables } = form.values;
  const set = (next: VariableValues[], as?: string) => form.set({ environment: next }, as);
  return (
    <SpaceBetween size="m">
      <FormField label={say.variables} errorText={form.ownError("environment")} />
      {variables.map((variable, index) => (
        <VariableFields
          key={index}
          number={index + 1}
          variable={variable}
          error={(field) => form.ownError(`environment.${index}.${field}`)}
          onChange={(changes, field) => set(replaced(variables, index, changes), field && `environment.${index}.${field}`)}
          onRemove={() => {
            form.reset();
            set(without(variables, index));
          }}
        />
      ))}
      <Button formAction="none" onClick={() => set([...variables, { name: "", isHidden: false, value: "", secret: "" }])}>
        {say.addVariable}
      </Button>
    </SpaceBetween>
  );
}

interface VariableProps {
  number: number;
  variable: VariableValues;
  error: (field: string) => string | undefined;
  onChange: (changes: Partial<VariableValues>, field?: string) => void;
  onRemove: () => void;
}

function VariableFields({ number, variable, error, onChange, onRemove }: VariableProps) {
  const say = text.code.form;
  const { isHidden, value, secret } = variable;
  const bind = (field: "name" | "value") => ({
    value: variable[field],
    error: error(field),
    onChange: (typed: string) => onChange({ [field]: typed }, field),
  });
  return (
    <SpaceBetween size="s">
      <Header
        variant="h3"
        actions={
          <Button formAction="none" iconName="remove" variant="icon" ariaLabel={say.removeVariable(number)} onClick={onRemove} />
        }
      >
        {say.variable(number)}
      </Header>
      <TextField label={say.name} {...bind("name")} />
      {isHidden ? (
        <TextField
          label={say.value}
          type="password"
          autoComplete="off"
          value={secret}
          error={error("secret") ?? error("value")} // the API names the value if there is neither
          onChange={(typed) => {
            onChange({ secret: typed }, "secret");
            onChange({ secret: typed }, "value");
          }}
        />
      ) : (
        <TextField label={say.value} {...bind("value")} />
      )}
      <Checkbox
        checked={isHidden}
        description={say.secretAbout}
        onChange={() =>
          onChange(isHidden ? { isHidden: false, value: secret, secret: "" } : { isHidden: true, value: "", secret: value })
        }
      >
        {say.secret}
      </Checkbox>
    </SpaceBetween>
  );
}
