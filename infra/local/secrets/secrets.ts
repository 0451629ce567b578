// Secrets Manager, as far as the service uses it: the template's secrets, generated once, with versions that rotate, in one file
// of mode 0600.
import { randomInt, randomUUID } from "node:crypto";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { dirname } from "node:path";
import * as z from "zod";
import { replaceFile } from "../durable.ts";
import { AwsFault, LocalError } from "../errors.ts";

const Version = z.object({ id: z.string(), stages: z.array(z.string()), value: z.string(), created: z.number() });
const Secret = z.object({ name: z.string(), arn: z.string(), versions: z.array(Version) });
type Secret = z.infer<typeof Secret>;

const Generate = z.object({
  PasswordLength: z.coerce.number().int().min(1).max(4096).default(32),
  ExcludeCharacters: z.string().default(""),
  ExcludeLowercase: z.boolean().default(false),
  ExcludeUppercase: z.boolean().default(false),
  ExcludeNumbers: z.boolean().default(false),
  ExcludePunctuation: z.boolean().default(false),
  IncludeSpace: z.boolean().default(false),
  RequireEachIncludedType: z.boolean().default(true),
  SecretStringTemplate: z.string().optional(),
  GenerateStringKey: z.string().optional(),
});
const Properties = z.object({
  SecretString: z.string().optional(),
  GenerateSecretString: Generate.optional(),
});

export interface Secrets {
  /** Creates the secret of an AWS::SecretsManager::Secret unless it exists. */
  ensure: (resource: { name: string; arn: string; properties: unknown }) => void;
  call: (action: string, input: unknown) => Promise<unknown>;
  /** From now on, these parts replace those of the secret's JSON. */
  cover: (arn: string, parts: Readonly<Record<string, unknown>>) => void;
  /** The text with the secrets that it refers to, as CloudFormation resolves them. */
  resolved: (text: string) => string;
}

/** Without `file` they are in memory and lost at the end. */
export function openSecrets({ file }: { file?: string | undefined }): Secrets {
  const secrets = file !== undefined && existsSync(file) ? read(file) : [];
  const save = (): void => {
    if (file === undefined) return;
    mkdirSync(dirname(file), { recursive: true });
    // Without them nobody can sign in to the machines any more, or decrypt what is sealed.
    replaceFile(file, JSON.stringify(secrets, undefined, 2), { mode: 0o600 });
  };
  const find = (id: string): Secret => {
    // AWS also accepts an ARN without its random end.
    const found = secrets.find(({ name, arn }) => id === name || id === arn || id === arn.slice(0, -7));
    if (found === undefined) throw new AwsFault("ResourceNotFoundException", "Secrets Manager can't find the specified secret.");
    return found;
  };
  const covers = new Map<string, Readonly<Record<string, unknown>>>();
  const actions: Record<string, (input: unknown) => unknown> = {
    GetSecretValue: (input) => {
      const secret = find(SecretId.parse(input).SecretId);
      const { SecretString, ...rest } = getValue(secret, input);
      return { ...rest, SecretString: withOverrides(SecretString, covers.get(secret.arn)) };
    },
    DescribeSecret: (input) => {
      const { name, arn, versions } = find(SecretId.parse(input).SecretId);
      return { ARN: arn, Name: name, VersionIdsToStages: Object.fromEntries(versions.map(({ id, stages }) => [id, stages])) };
    },
    PutSecretValue: (input) => {
      const output = putValue(find(SecretId.parse(input).SecretId), input);
      save();
      return output;
    },
  };
  return {
    ensure({ name, arn, properties }) {
      if (secrets.some((other) => other.arn === arn)) return;
      const { SecretString, GenerateSecretString } = Properties.parse(properties);
      const value = SecretString ?? generated(Generate.parse(GenerateSecretString ?? {}));
      secrets.push({ name, arn, versions: [{ id: randomUUID(), stages: ["AWSCURRENT"], value, created: Date.now() / 1000 }] });
      save();
    },
    async call(action, input) {
      const run = Object.hasOwn(actions, action) ? actions[action] : undefined;
      if (run === undefined) throw new AwsFault("InvalidRequestException", `${action} is not supported on this machine`);
      return run(input);
    },
    cover: (arn, parts) => void covers.set(arn, parts),
    resolved: (text) => text.replaceAll(REFERENCE, (_, arn: string) => current(find(arn)).value),
  };
}

const REFERENCE = /\{\{resolve:secretsmanager:(arn:.+?):SecretString:[^}]*\}\}/g;

function current({ name, versions }: Secret): Secret["versions"][number] {
  const found = versions.find(({ stages }) => stages.includes("AWSCURRENT"));
  if (found === undefined) throw new LocalError(`The secret ${name} has no current value`);
  return found;
}

function read(file: string): Secret[] {
  try {
    return z.array(Secret).parse(JSON.parse(readFileSync(file, "utf8")));
  } catch (cause) {
    throw new LocalError(
      `The secrets in ${file} cannot be read: restore that file, or start with --reset to begin with no data`,
      {
        cause,
      },
    );
  }
}

const SecretId = z.object({ SecretId: z.string() });

const withOverrides = (value: string, parts: Readonly<Record<string, unknown>> | undefined): string =>
  parts === undefined ? value : JSON.stringify({ ...z.record(z.string(), z.unknown()).parse(JSON.parse(value)), ...parts });

function getValue({ name, arn, versions }: Secret, input: unknown) {
  const { VersionId, VersionStage } = z
    .object({ VersionId: z.string().optional(), VersionStage: z.string().optional() })
    .parse(input);
  const stage = VersionStage ?? (VersionId === undefined ? "AWSCURRENT" : undefined);
  const version = versions.find(
    ({ id, stages }) => (VersionId === undefined || id === VersionId) && (stage === undefined || stages.includes(stage)),
  );
  if (version === undefined)
    throw new AwsFault("ResourceNotFoundException", `Secrets Manager can't find the secret value for ${stage ?? VersionId}`);
  return {
    ARN: arn,
    Name: name,
    VersionId: version.id,
    VersionStages: version.stages,
    SecretString: version.value,
    CreatedDate: version.created,
  };
}

/** A new AWSCURRENT makes the previous one AWSPREVIOUS, and removes that one's predecessor. */
function putValue(changed: Secret, input: unknown): unknown {
  const { SecretString, ClientRequestToken, VersionStages } = z
    .object({
      SecretString: z.string(),
      ClientRequestToken: z.string().default(() => randomUUID()),
      VersionStages: z.array(z.string()).default(["AWSCURRENT"]),
    })
    .parse(input);
  const output = { ARN: changed.arn, Name: changed.name, VersionId: ClientRequestToken, VersionStages };
  const same = changed.versions.find(({ id }) => id === ClientRequestToken);
  if (same !== undefined) {
    if (same.value === SecretString) return output;
    throw new AwsFault("ResourceExistsException", "A version with this ClientRequestToken exists and has another value.");
  }
  const moved = VersionStages.includes("AWSCURRENT") ? [...VersionStages, "AWSPREVIOUS"] : VersionStages;
  for (const old of changed.versions) {
    const wasCurrent = old.stages.includes("AWSCURRENT") && moved.includes("AWSCURRENT");
    old.stages = [...old.stages.filter((stage) => !moved.includes(stage)), ...(wasCurrent ? ["AWSPREVIOUS"] : [])];
  }
  changed.versions = changed.versions.filter(({ stages }) => stages.length > 0);
  changed.versions.push({ id: ClientRequestToken, stages: VersionStages, value: SecretString, created: Date.now() / 1000 });
  return output;
}

const LOWER = "abcdefghijklmnopqrstuvwxyz";
const UPPER = LOWER.toUpperCase();
const DIGITS = "0123456789";
const PUNCTUATION = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~";

const random = (length: number, alphabet: string): string =>
  Array.from({ length }, () => alphabet.charAt(randomInt(alphabet.length))).join("");

function generated(wish: z.infer<typeof Generate>): string {
  const kinds = [
    wish.ExcludeLowercase ? "" : LOWER,
    wish.ExcludeUppercase ? "" : UPPER,
    wish.ExcludeNumbers ? "" : DIGITS,
    wish.ExcludePunctuation ? "" : PUNCTUATION,
    wish.IncludeSpace ? " " : "",
  ]
    .map((kind) =>
      kind
        .split("")
        .filter((char) => !wish.ExcludeCharacters.includes(char))
        .join(""),
    )
    .filter((kind) => kind !== "");
  if (kinds.length === 0)
    throw new LocalError("A secret of the template excludes every character: GenerateSecretString leaves none");
  if (wish.RequireEachIncludedType && kinds.length > wish.PasswordLength)
    throw new LocalError(
      "A secret of the template is too short to hold each kind of character it requires: raise PasswordLength",
    );
  const password = drawPassword(wish.PasswordLength, kinds, wish.RequireEachIncludedType);
  if (wish.SecretStringTemplate === undefined || wish.GenerateStringKey === undefined) return password;
  const fields = z.record(z.string(), z.unknown()).parse(JSON.parse(wish.SecretStringTemplate));
  return JSON.stringify({ ...fields, [wish.GenerateStringKey]: password });
}

/** Draws until every kind of character is in it, so that no position of the password is less random than another. */
function drawPassword(length: number, kinds: string[], each: boolean): string {
  for (;;) {
    const password = random(length, kinds.join(""));
    if (!each || kinds.every((kind) => password.split("").some((char) => kind.includes(char)))) return password;
  }
}
