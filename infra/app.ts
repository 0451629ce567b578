// The CDK app: one stack per environment. The CLI runs this file; the local runner calls `synth`.
import { App, Validations } from "aws-cdk-lib";
import { AwsSolutionsChecks } from "cdk-nag";
import { resolve } from "node:path";
import { readBrand } from "./brand.ts";
import { ROOT } from "./built.ts";
import { bundleIfChanged } from "./bundle.ts";
import { buildDashboard } from "./dashboard-build.ts";
import { Chosen, CHOSEN_NAMES, needsEdge, NONE, findProblem } from "./deploy-settings.ts";
import type { DashboardConfig } from "./dashboard-headers.ts";
import { Edge } from "./edge.ts";
import { FEATURE_FLAGS } from "./feature-flags.ts";
import { Service } from "./service.ts";
import { type Environment, ENVIRONMENTS } from "../shared/domain/environments.ts";

interface Options {
  /** Folder of the bundles; built from the current sources if not given. */
  bundles?: string | undefined;
  /** Folder of the built dashboard; without it there are no files to deploy, and the local runner serves them itself. */
  dashboard?: string | undefined;
  /** Whether the CDK and cdk-nag check the result, which takes seconds that the local runner saves. */
  checked?: boolean;
}

/** Creates the templates, by default in the CLI's own folder, and returns its path. */
export async function synth(
  outdir: string | undefined,
  environments: readonly Environment[],
  { bundles, dashboard, checked = true }: Options = {},
): Promise<string> {
  const app = new App({
    ...(outdir === undefined ? {} : { outdir }),
    analyticsReporting: false,
    treeMetadata: false,
    builtinCloudFormationValidation: checked,
    context: FEATURE_FLAGS,
  });
  if (checked) Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
  const folder = bundles ?? (await bundleIfChanged());
  for (const environment of chosen(app, environments)) {
    const options = readOptions(app, environment);
    new Service(app, {
      environment,
      bundles: folder,
      dashboard,
      options,
      otherDashboard: otherDashboard(environment, options),
      brand: brand(options),
      guarded: guarded(app, options),
    });
    if (needsEdge(options)) new Edge(app, buildEdge(environment, options));
  }
  return app.synth().directory;
}

/** All environments, or the one that `--context environment=test` names. */
function chosen(app: App, environments: readonly Environment[]): readonly Environment[] {
  const name = contextText(app, "environment");
  const one = environments.filter((each) => each === name);
  if (name !== undefined && one.length === 0)
    throw new Error(`There is no environment ${name}: it is ${environments.join(" or ")}`);
  return name === undefined ? environments : one;
}

/** The options of `--context`, or else of cdk.json for this environment. */
function readOptions(app: App, environment: Environment): Chosen {
  const stored = Chosen.parse(app.node.tryGetContext(environment) ?? {});
  const together = CHOSEN_NAMES.map((name) => [name, contextText(app, name) ?? stored[name]] as const);
  const options = Object.fromEntries(together.filter(([, value]) => value !== undefined && value !== NONE && value !== "false"));
  const problem = findProblem(options);
  if (problem !== undefined) throw new Error(`The context values for ${environment} cannot be used: ${problem}`);
  return Chosen.parse(options);
}

/** The other environment's dashboard, which this one links to. */
function otherDashboard(environment: Environment, { otherDashboard: url }: Chosen): DashboardConfig["other_dashboard"] {
  const other = ENVIRONMENTS.find((each) => each !== environment);
  return url === undefined || other === undefined ? null : { environment: other, url };
}

/** The file is in the repository, like the option that names it. */
const brand = ({ brand: path }: Chosen): DashboardConfig["brand"] => (path === undefined ? null : readBrand(resolve(ROOT, path)));

/**
 * Whether what holds data is protected against deletion. `npm run deploy` sets it after a successful creation; undefined: not
 * set.
 */
function guarded(app: App, options: Chosen): boolean | undefined {
  const value = contextText(app, "protected") ?? options.protected;
  if (value === undefined || value === "true" || value === "false") return value === undefined ? undefined : value === "true";
  throw new Error("The context value protected is true or false");
}

function buildEdge(environment: Environment, options: Chosen): ConstructorParameters<typeof Edge>[1] {
  const { healthCheck, requestsPerAddress, domain, front, alarmEmail } = options;
  return {
    environment,
    checked: healthCheck === undefined ? undefined : (domain ?? front),
    requestsPerAddress: requestsPerAddress === undefined ? undefined : Number(requestsPerAddress),
    alarmEmail,
  };
}

function contextText(app: App, name: string): string | undefined {
  const value: unknown = app.node.tryGetContext(name);
  if (value === undefined || typeof value === "string") return value;
  throw new Error(`The context value ${name} must be text`);
}

if (import.meta.main) await synth(undefined, ENVIRONMENTS, { dashboard: await buildDashboard() });
