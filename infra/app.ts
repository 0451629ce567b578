// The CDK app: one stack per environment. The CLI runs this file; the local runner calls `synth`.
import { App, Validations } from "aws-cdk-lib";
import { AwsSolutionsChecks } from "cdk-nag";
import { resolve } from "node:path";
import { readBrand } from "./brand.ts";
import { ROOT } from "./built.ts";
import { bundleIfChanged } from "./bundle.ts";
import type { OwnDomain } from "./dashboard.ts";
import { buildDashboard } from "./dashboard-build.ts";
import { Chosen, type ChosenName, NONE } from "./deploy-settings.ts";
import type { DashboardConfig } from "./dashboard-headers.ts";
import { Service } from "./service.ts";
import { type Environment, ENVIRONMENTS } from "../shared/domain/environments.ts";

/** Here and not in cdk.json, so that everyone synthesizes the same template. */
const CONTEXT = {
  "@aws-cdk/aws-s3:serverAccessLogsUseBucketPolicy": true,
  "@aws-cdk/core:checkSecretUsage": true,
  "@aws-cdk/core:target-partitions": ["aws"],
  "@aws-cdk/aws-iam:minimizePolicies": false,
};

interface Options {
  /** Folder of the bundles; built from the current sources if not given. */
  bundles?: string | undefined;
  /** Folder of the built dashboard; without it there are no files to deploy, and the local runner serves them itself. */
  dashboard?: string | undefined;
  /** Whether the CDK and cdk-nag check the result, which takes seconds that the local runner saves. */
  checked?: boolean;
}

/** Creates the templates, by default in the CLI's own folder, and returns their place. */
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
    context: CONTEXT,
  });
  if (checked) Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
  const folder = bundles ?? (await bundleIfChanged());
  for (const environment of chosen(app, environments))
    new Service(app, {
      environment,
      bundles: folder,
      dashboard,
      otherDashboard: otherDashboard(app, environment),
      brand: brand(app, environment),
      domain: ownDomain(app, environment),
      guarded: guarded(app),
      alarmEmail: setting(app, environment, "alarmEmail"),
    });
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

/** The other environment's dashboard, which this one links to. */
function otherDashboard(app: App, environment: Environment): DashboardConfig["other_dashboard"] {
  const url = setting(app, environment, "otherDashboard");
  const other = ENVIRONMENTS.find((each) => each !== environment);
  return url === undefined || other === undefined ? null : { environment: other, url };
}

/** The file is in the repository, like the option that names it. */
function brand(app: App, environment: Environment): DashboardConfig["brand"] {
  const path = setting(app, environment, "brand");
  return path === undefined ? null : readBrand(resolve(ROOT, path));
}

function ownDomain(app: App, environment: Environment): OwnDomain | undefined {
  const [name, certificateArn] = [setting(app, environment, "domain"), setting(app, environment, "certificate")];
  if (name === undefined && certificateArn === undefined) return undefined;
  if (name === undefined || certificateArn === undefined) throw new Error("A domain and its certificate are given together");
  return { name, certificateArn };
}

/** Whether what holds data is protected against deletion. `npm run deploy` sets it after a successful creation; undefined: not set. */
function guarded(app: App): boolean | undefined {
  const value = contextText(app, "protected");
  if (value === undefined || value === "true" || value === "false") return value === undefined ? undefined : value === "true";
  throw new Error("The context value protected is true or false");
}

/** The value of `--context`, or else of cdk.json for this environment. */
function setting(app: App, environment: Environment, name: ChosenName): string | undefined {
  const value = contextText(app, name) ?? Chosen.parse(app.node.tryGetContext(environment) ?? {})[name];
  return value === NONE ? undefined : value;
}

function contextText(app: App, name: string): string | undefined {
  const value: unknown = app.node.tryGetContext(name);
  if (value === undefined || typeof value === "string") return value;
  throw new Error(`The context value ${name} must be text`);
}

if (import.meta.main) await synth(undefined, ENVIRONMENTS, { dashboard: await buildDashboard() });
