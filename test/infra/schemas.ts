// Finds what CloudFormation would reject before a deployment: checks a template against AWS's own schemas, and for circles.
import { loadAwsServiceSpecSync } from "@aws-cdk/aws-service-spec";
import * as z from "zod";

const Resource = z.looseObject({
  Type: z.string(),
  Properties: z.record(z.string(), z.json()).default({}),
  DependsOn: z.union([z.string().transform((one) => [one]), z.array(z.string())]).default([]),
});
export const Resources = z.record(z.string(), Resource);
type Resources = z.infer<typeof Resources>;

const spec = loadAwsServiceSpecSync();
type Spec = NonNullable<ReturnType<typeof schemaOf>>;
type Properties = Spec["properties"];
type PropertyType = Properties[string]["type"];

const schemaOf = (type: string) => spec.lookup("resource", "cloudFormationType", "equals", type)[0];

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
/** Values that CloudFormation computes, which have no type before. */
const isIntrinsic = (value: unknown): boolean =>
  isObject(value) && Object.keys(value).length === 1 && /^(Ref|Fn::)/.test(Object.keys(value)[0] ?? "");

/** Unknown property names, missing required ones, and values of a wrong type. */
export function problemsOf(resources: Resources): string[] {
  return Object.entries(resources).flatMap(([id, { Type, Properties }]) => {
    if (Type.startsWith("Custom::")) return []; // an intrinsic function
    const schema = schemaOf(Type);
    return schema === undefined ? [`${id}: AWS has no ${Type}`] : inObject(Properties, schema.properties, `${id} (${Type})`);
  });
}

function inObject(value: Record<string, unknown>, properties: Properties, at: string): string[] {
  const missing = Object.entries(properties).filter(([name, { required }]) => required === true && !(name in value));
  return [
    ...missing.map(([name]) => `${at} lacks ${name}`),
    ...Object.entries(value).flatMap(([name, inside]) => {
      const property = properties[name];
      if (property === undefined) return [`${at} has no property ${name}`];
      return inOneOf(inside, [property.type, ...(property.previousTypes ?? [])], `${at}.${name}`);
    }),
  ];
}

/** The problems with the first type, unless the value matches another one. */
function inOneOf(value: unknown, types: readonly PropertyType[], at: string): string[] {
  const problems = types.map((type) => inType(value, type, at));
  return problems.some((each) => each.length === 0) ? [] : (problems[0] ?? []);
}

function inType(value: unknown, type: PropertyType, at: string): string[] {
  if (isIntrinsic(value)) return [];
  const unless = (right: boolean): string[] => (right ? [] : [`${at} is no ${type.type}: ${JSON.stringify(value)}`]);
  switch (type.type) {
    case "string":
    case "date-time":
      return unless(typeof value === "string");
    case "number":
      return unless(typeof value === "number" || (typeof value === "string" && /^-?[\d.]+$/.test(value)));
    case "integer":
      return unless(/^-?\d+$/.test(String(value)));
    case "boolean":
      return unless(typeof value === "boolean" || value === "true" || value === "false");
    case "null":
      return unless(value === null);
    case "json":
      return unless(isObject(value) || typeof value === "string" || Array.isArray(value));
    case "tag":
      return unless(isObject(value) && "Key" in value && "Value" in value);
    case "array":
      return Array.isArray(value) ? value.flatMap((each, index) => inType(each, type.element, `${at}[${index}]`)) : unless(false);
    case "map":
      return isObject(value)
        ? Object.entries(value).flatMap(([name, each]) => inType(each, type.element, `${at}.${name}`))
        : unless(false);
    case "union":
      return inOneOf(value, type.types, at);
    case "ref":
      return isObject(value) ? inObject(value, spec.get("typeDefinition", type.reference).properties, at) : unless(false);
    default:
      return type satisfies never;
  }
}

/** The first circle of resources that each need the next one first; undefined if there is none. */
export function cycleIn(resources: Resources): string[] | undefined {
  const done = new Set<string>();
  const from = (id: string, path: readonly string[]): string[] | undefined => {
    const before = path.indexOf(id);
    if (before >= 0) return [...path.slice(before), id];
    if (done.has(id)) return undefined;
    for (const next of neededBy(resources[id])) {
      const cycle = next in resources ? from(next, [...path, id]) : undefined;
      if (cycle !== undefined) return cycle;
    }
    done.add(id);
    return undefined;
  };
  return Object.keys(resources).reduce<string[] | undefined>((found, id) => found ?? from(id, []), undefined);
}

const neededBy = (resource: Resources[string] | undefined): string[] =>
  resource === undefined ? [] : [...resource.DependsOn, ...referencesIn(resource)];

function referencesIn(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(referencesIn);
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([name, inside]): string[] => {
    if (name === "Ref" && typeof inside === "string") return [inside];
    if (name === "Fn::GetAtt") return [String(Array.isArray(inside) ? inside[0] : inside).split(".")[0] ?? ""];
    const text: unknown = Array.isArray(inside) ? inside[0] : inside;
    if (name === "Fn::Sub" && typeof text === "string")
      return [...[...text.matchAll(/\$\{(\w+)[.}]/g)].map(([, id = ""]) => id), ...referencesIn(inside)];
    return referencesIn(inside);
  });
}
