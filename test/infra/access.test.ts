// Who may do what: which requests reach a function, through the API and its authorizer, and what each role is allowed.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import * as z from "zod";
import { toGatewayMethod, toGatewayPath as pathOf, listRoutes } from "../../infra/api.ts";
import { synth } from "../../infra/app.ts";
import { endpointAccess } from "../../infra/endpoint-access.ts";
import { allows as iamAllows } from "../../infra/local/iam/iam.ts";
import { ACCOUNT } from "../../infra/local/template/resolve.ts";
import { stackName } from "../../infra/settings.ts";
import { type Environment, ENVIRONMENTS } from "../../shared/domain/environments.ts";
import type { Route } from "../../shared/api/index.ts";
import { BASE_PATH } from "../../shared/api/base-path.ts";
import { machineVariable } from "../../shared/domain/workflow.ts";
import { allows, NEEDED, resourceOf } from "./deployment-policy.ts";
import { scratch, stubBundles, stubDashboard } from "./stubs.ts";
import { actionsOf, apiOf, grantsOf, of, raws, readTemplates, templates } from "./templates.ts";

/** What a route's function may do with the archives of backups. */
const STORAGE: Readonly<Partial<Record<string, readonly string[]>>> = {
  read: ["s3:GetObject"],
  upload: ["s3:AbortMultipartUpload", "s3:PutObject"],
  "list parts": ["s3:ListMultipartUploadParts"],
  "list and abort uploads": ["s3:AbortMultipartUpload", "s3:ListMultipartUploadParts"],
};

const outdir = scratch();
const built = { bundles: stubBundles(), dashboard: stubDashboard() };

// The checks of the result take most of a synthesis: stack.test.ts makes them.
beforeAll(async () => {
  await synth(outdir, ENVIRONMENTS, { ...built, checked: false });
  readTemplates(outdir);
});

function methodOf(environment: Environment, method: string, path: string) {
  const found = apiOf(environment)
    .resources.find((each) => each.path === path)
    ?.methods.find(({ httpMethod }) => httpMethod === method);
  if (found === undefined) throw new Error(`The API has no ${method} ${path}`);
  return found;
}

function functionOf(environment: Environment, route: Route) {
  const { functionArn } = methodOf(environment, toGatewayMethod(route), pathOf(route));
  const found = of(templates, environment).functions.find(({ arn }) => arn === functionArn);
  if (found === undefined) throw new Error(`${route.id} calls no function of the template`);
  return found;
}

const Statement = z.looseObject({ Effect: z.string(), Principal: z.json().optional(), Condition: z.json().optional() });

/** The statements of all policies in a resource's properties. */
function statementsIn(value: z.core.util.JSONType): z.infer<typeof Statement>[] {
  if (typeof value !== "object" || value === null) return [];
  const parsed = Statement.safeParse(value);
  return [...(parsed.success ? [parsed.data] : []), ...Object.values(value).flatMap(statementsIn)];
}

const namesService = (principal: unknown): boolean => z.looseObject({ Service: z.json() }).safeParse(principal).success;

const READS = ["dynamodb:BatchGetItem", "dynamodb:GetItem", "dynamodb:Query"];
const WRITES = [
  ...READS,
  "dynamodb:ConditionCheckItem",
  "dynamodb:DeleteItem",
  "dynamodb:PutItem",
  "dynamodb:UpdateItem",
].toSorted();

describe.each(ENVIRONMENTS)("the stack of %s", (environment) => {
  it("API Gateway may invoke the API's functions and its authorizer, by one role, and no other function", async () => {
    const { roles, functions } = of(templates, environment);
    const { resources: paths, authorizers } = apiOf(environment);
    const invoked = [...paths.flatMap(({ methods }) => methods), ...authorizers];
    const [arn, ...others] = new Set(invoked.map(({ role }) => role));
    expect(others).toEqual([]);
    const policies = roles.find((role) => role.arn === arn)?.policies ?? [];
    const invocable = await Promise.all(
      functions.map(async (each) =>
        (await iamAllows(policies, ACCOUNT, { action: "lambda:InvokeFunction", resource: each.arn })) ? [each.arn] : [],
      ),
    );
    expect(invocable.flat().toSorted()).toEqual([...new Set(invoked.map(({ functionArn }) => functionArn))].toSorted());
  });

  it("every route has a method with its own function", () => {
    const names = listRoutes(environment).map((route) => functionOf(environment, route).directory ?? "");
    expect(new Set(names).size).toBe(listRoutes(environment).length);
    for (const [index, route] of listRoutes(environment).entries()) {
      expect(readFileSync(join(names[index] ?? "", "index.mjs"), "utf8")).toContain(`"${route.id}"`);
    }
  });

  it("the API has no methods except the routes and the fallback", () => {
    const methods = apiOf(environment).resources.flatMap(({ path, methods }) =>
      methods.map(({ httpMethod }) => `${httpMethod} ${path}`),
    );
    const routes = listRoutes(environment).map((route) => `${toGatewayMethod(route)} ${pathOf(route)}`);
    const fallbacks = apiOf(environment).resources.flatMap((resource) =>
      routes.includes(`ANY ${resource.path}`) ? [] : [`ANY ${resource.path}`],
    );
    expect(methods.toSorted()).toEqual([...routes, ...fallbacks].toSorted());
  });

  it("every path returns its own 404 and 405: from the fallback, which needs no credential, or from the function of its GET", () => {
    const gets = new Set(listRoutes(environment).flatMap((route) => (route.method === "GET" ? [pathOf(route)] : [])));
    for (const { path } of apiOf(environment).resources) {
      if (gets.has(path)) continue;
      const { authorizer, functionArn } = methodOf(environment, "ANY", path);
      expect({ path, authorizer }).toEqual({ path, authorizer: undefined });
      expect(functionArn).toContain("fallback");
    }
    for (const base of ["", "/api", BASE_PATH])
      expect(methodOf(environment, "ANY", `${base}/{proxy+}`).functionArn).toContain("fallback");
  });

  it("every request to a route that is not public goes to the authorizer, whatever its headers", () => {
    // That nothing is cached, and no header demanded, is all that the local reader accepts.
    const [{ name } = { name: "" }] = apiOf(environment).authorizers;
    for (const route of listRoutes(environment)) {
      const { authorizer } = methodOf(environment, toGatewayMethod(route), pathOf(route));
      expect({ route: route.id, authorizer }).toEqual({
        route: route.id,
        authorizer: route.access === "public" ? undefined : name,
      });
    }
  });

  it("every route's function may do what infra/endpoint-access.ts says, and nothing else", () => {
    const { tables, machines, secrets, buckets } = of(templates, environment);
    const names = new Map([...tables, ...secrets, ...buckets].map(({ arn, logicalId }) => [arn, logicalId]));
    const machineArn = (name: string) => machines.find((machine) => machine.name === `${stackName(environment)}-${name}`)?.arn;
    for (const route of listRoutes(environment)) {
      const { role, environment: variables } = functionOf(environment, route);
      const access = endpointAccess(route);
      const grants = grantsOf(environment, role);
      const keys = grants.filter((grant) => grant.startsWith("secretsmanager:"));
      expect({
        route: route.id,
        table: actionsOf(grants, "dynamodb"),
        starts: grants.filter((grant) => grant.startsWith("states:")).toSorted(),
        given: route.starts.map((name) => variables[machineVariable(name)]),
        keys: keys.map((grant) => names.get(grant.split(" ")[1] ?? "")),
        givenKeys: access.keys?.map((key) => `secretsmanager:GetSecretValue ${variables[`${key.toUpperCase()}_KEY`]}`),
        storage: actionsOf(grants, "s3"),
        givenBucket: "BACKUP_BUCKET" in variables,
      }).toEqual({
        route: route.id,
        table: access.table === undefined ? [] : access.table === "write" ? WRITES : READS,
        starts: route.starts.map((name) => `states:StartExecution ${machineArn(name)}`).toSorted(),
        given: route.starts.map(machineArn),
        keys: access.keys?.map((key): unknown => expect.stringContaining(key)),
        givenKeys: keys,
        storage: access.storage === undefined ? [] : STORAGE[access.storage],
        givenBucket: access.storage !== undefined,
      });
    }
  });

  it("a GET may write only to record a download or a reading of logs, and to free the slot of a wait", () => {
    const writing = listRoutes(environment).filter((route) => route.method === "GET" && endpointAccess(route).table === "write");
    expect(writing.map(({ id }) => id).toSorted()).toEqual([
      "backups.download",
      "instances.logs",
      "operations.get",
      "operations.log",
    ]);
  });

  it("the authorizer may write to the table and read the session key, and nothing else", () => {
    const authorizer = apiOf(environment).authorizers[0];
    const { role = "" } = of(templates, environment).functions.find(({ arn }) => arn === authorizer?.functionArn) ?? {};
    const services = grantsOf(environment, role).filter((grant) => !/^(logs|xray):/.test(grant));
    expect(services).toHaveLength(2);
    expect(services[0]).toMatch(/^dynamodb:UpdateItem \S+$/);
    expect(services[1]).toMatch(/^secretsmanager:GetSecretValue \S+session\S+$/);
  });

  it("every policy names its resources, except where AWS has no names", () => {
    const nameless = of(templates, environment).roles.flatMap(({ arn }) =>
      grantsOf(environment, arn).filter((grant) => grant.endsWith(" *")),
    );
    expect(nameless.filter((grant) => !/^(xray:|logs:|dynamodb:ListStreams )/.test(grant))).toEqual([]);
  });

  it("what the stack grants to a service, the service may use for this account only", () => {
    const grants = Object.entries(of(raws, environment).Resources).flatMap(([id, { Properties }]) =>
      statementsIn(Properties)
        .filter(
          ({ Effect, Principal, Condition }) =>
            Effect === "Allow" && namesService(Principal) && !/"aws:Source(Account|Arn)"/i.test(JSON.stringify(Condition ?? "")),
        )
        .map(() => id),
    );
    // AWS does not document that API Gateway names the account; the others are the CDK's own functions.
    const exceptions = [/^apiinvoke/, /^apigatewayCloudWatchRole/, /^CustomS3AutoDelete/, /^CustomCDKBucketDeployment/];
    expect(grants.filter((id) => !exceptions.some((other) => other.test(id)))).toEqual([]);
    expect(grants).toHaveLength(exceptions.length);
  });

  it("the narrowed deployment policy allows everything in the stack", () => {
    const types = [...new Set(Object.values(of(raws, environment).Resources).map(({ Type }) => Type))];
    expect(types.filter((type) => NEEDED[type] === undefined)).toEqual([]);
    const denied = types.flatMap((type) =>
      (NEEDED[type] ?? []).filter((action) => !allows(action, resourceOf(action))).map((action) => `${type}: ${action}`),
    );
    expect(denied).toEqual([]);
  });
});

it("the deployment policy touches only the stacks' roles", () => {
  expect(allows("iam:PutRolePolicy", `arn:aws:iam::${ACCOUNT}:role/Administrator`)).toBe(false);
});

it("only the test environment has the sandbox", () => {
  const having = ENVIRONMENTS.filter((environment) => apiOf(environment).resources.some(({ path }) => path.includes("sandbox")));
  expect(having).toEqual(["test"]);
});
