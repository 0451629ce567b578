// The synthesized templates of both environments, for tests of what a deployment creates.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import * as z from "zod";
import { readTemplate, type Template } from "../../infra/local/template/template.ts";
import { stackName } from "../../infra/settings.ts";
import { type Environment, ENVIRONMENTS } from "../../shared/domain/environments.ts";

const rawTemplate = z.object({
  Resources: z.record(
    z.string(),
    z.looseObject({
      Type: z.string(),
      Properties: z.record(z.string(), z.json()).default({}),
      DeletionPolicy: z.string().optional(),
    }),
  ),
});
export type Raw = z.infer<typeof rawTemplate>;

export const templates = new Map<Environment, Template>();
export const raws = new Map<Environment, Raw>();

/** A template as the CDK has written it. */
export const readRaw = (outdir: string, environment: Environment): Raw =>
  rawTemplate.parse(JSON.parse(readFileSync(join(outdir, `${stackName(environment)}.template.json`), "utf8")));

/** Reads the templates in a folder, before the tests of a file. */
export function readTemplates(outdir: string): void {
  for (const environment of ENVIRONMENTS) {
    templates.set(environment, readTemplate(outdir, stackName(environment)));
    raws.set(environment, readRaw(outdir, environment));
  }
}

export function of<T>(map: Map<Environment, T>, environment: Environment): T {
  const value = map.get(environment);
  if (value === undefined) throw new Error(`${environment} was not synthesized`);
  return value;
}

/** The resources of a type, with their properties. */
export const resources = (environment: Environment, type: string) =>
  Object.values(of(raws, environment).Resources).filter(({ Type }) => Type === type);

export function apiOf(environment: Environment) {
  const [api] = of(templates, environment).apis;
  if (api === undefined) throw new Error("The template has no API");
  return api;
}

const oneOrMore = z.union([z.string().transform((one) => [one]), z.array(z.string())]);
const statement = z.object({ Effect: z.literal("Allow"), Action: oneOrMore, Resource: oneOrMore });

/** A role's permissions, as `action resource` pairs. */
export function grantsOf(environment: Environment, roleArn: string): string[] {
  const role = of(templates, environment).roles.find(({ arn }) => arn === roleArn);
  const statements = role?.policies.flatMap((policy) => policy.Statement.map((each) => statement.parse(each))) ?? [];
  return statements.flatMap(({ Action, Resource }) =>
    Action.flatMap((action) => Resource.map((resource) => `${action} ${resource}`)),
  );
}

export const actionsOf = (grants: string[], service: string): string[] =>
  [...new Set(grants.map((grant) => grant.split(" ")[0] ?? "").filter((action) => action.startsWith(`${service}:`)))].toSorted();
