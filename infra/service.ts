// One environment of the service, as a list of its parts.
import { Annotations, CfnOutput, Stack } from "aws-cdk-lib";
import { LogGroup } from "aws-cdk-lib/aws-logs";
import type { Construct } from "constructs";
import { BASE_PATH } from "../shared/api/index.ts";
import { Alarms } from "./alarms.ts";
import { Api } from "./api.ts";
import { Dashboard, type OwnDomain } from "./dashboard.ts";
import type { DashboardConfig } from "./dashboard-headers.ts";
import { configuration } from "./configuration.ts";
import { Functions } from "./function.ts";
import { Keys } from "./keys.ts";
import { OriginKey } from "./origin-key.ts";
import { logsOf } from "./removal.ts";
import { Schedules } from "./schedules.ts";
import { type Settings, SETTINGS, stackName } from "./settings.ts";
import type { Environment } from "../shared/domain/environments.ts";
import { Storage } from "./storage.ts";
import { table as oneTable } from "./table.ts";
import { Workflows } from "./workflows.ts";

interface Props {
  environment: Environment;
  /** Folder of the functions' bundles. */
  bundles: string;
  /** Folder of the built dashboard. */
  dashboard: string | undefined;
  otherDashboard: DashboardConfig["other_dashboard"];
  brand: DashboardConfig["brand"];
  domain: OwnDomain | undefined;
  /** Whether stack and table are protected against deletion: not during the creation, or a failed one could not be cleaned up. */
  guarded: boolean | undefined;
  /** The email address for alarms. */
  alarmEmail: string | undefined;
}

interface Outputs extends Pick<Props, "domain"> {
  url: string;
  distribution: Dashboard["distribution"];
  backups: Storage["backups"];
  topic: Alarms["topic"];
  alarmEmail: string | undefined;
  settings: Settings;
  keys: Keys["secrets"];
  providers: ReturnType<typeof configuration> | undefined;
}

export class Service extends Stack {
  constructor(scope: Construct, { environment, bundles, dashboard, domain, guarded: wanted, alarmEmail, ...shown }: Props) {
    const settings = SETTINGS[environment];
    const guarded = settings.protectData && wanted === true;
    super(scope, stackName(environment), {
      description: `ERP control plane, ${environment}`,
      terminationProtection: guarded,
      // A template may have 1 MB, and a third of it would be spaces.
      suppressTemplateIndentation: true,
      tags: { service: "erp-control-plane", environment },
    });

    if (settings.protectData && wanted === undefined)
      Annotations.of(this).addWarningV2(
        "erp-control-plane:unprotected",
        "Neither the stack nor its table is protected against deletion: add --context protected=true once it has been created (docs/deploy.md)",
      );

    const table = oneTable(this, environment, settings, { guarded });
    const { secrets: keys } = new Keys(this, "keys", settings);
    const providers = settings.rents ? configuration(this, "providers", settings) : undefined;
    const storage = new Storage(this, "storage", settings);
    const { backups } = storage;
    // One log group per kind of function, so that a request's ID is looked up in one place.
    const kept = logsOf(settings);
    const requests = new LogGroup(this, "requests", kept);
    const work = new LogGroup(this, "work", kept);
    const logs = [requests, work];
    // With this prefix the group needs no entry in the region's one policy for deliveries, which is small.
    const machineLog = new LogGroup(this, "machines", {
      ...kept,
      logGroupName: `/aws/vendedlogs/states/${stackName(environment)}`,
    });
    const functions = new Functions(this, "functions", {
      environment,
      settings,
      bundles,
      table,
      keys,
      configuration: providers,
      backups: storage.named,
    });
    new Workflows(this, "workflows", { environment, settings, functions, taskLog: work, machineLog });
    const originKey = new OriginKey(this, "origin-key", { number: settings.originKey });
    const { rest, authorize } = new Api(this, "api", { environment, settings, functions, originKey, logGroup: requests });
    const { url, distribution } = new Dashboard(this, "dashboard", {
      environment,
      rest,
      originKey,
      files: dashboard,
      ...shown,
      domain,
      storeUrl: storage.url,
      logGroup: work,
    });
    storage.allowUploadsFrom(url);
    const schedules = new Schedules(this, "schedules", { environment, settings, functions, logGroup: work });
    const { topic } = new Alarms(this, "alarms", { environment, rest, authorize, table, schedules, logs, email: alarmEmail });

    this.output({ url, distribution, domain, backups, topic, alarmEmail, settings, keys, providers });
  }

  /** What the operator and the commands read about a deployment. */
  private output({ url, distribution, domain, backups, topic, alarmEmail, settings, keys, providers }: Outputs): void {
    new CfnOutput(this, "Dashboard", { value: url });
    new CfnOutput(this, "BaseUrl", { value: `${url}${BASE_PATH}`, description: "Base URL of the API" });
    if (domain !== undefined)
      new CfnOutput(this, "Distribution", {
        value: distribution.domainName,
        description: "The target for your domain's DNS record",
      });
    new CfnOutput(this, "BackupBucket", {
      value: backups.bucketName,
      description: "Archives of backups",
    });
    new CfnOutput(this, "AlarmTopic", { value: topic.topicArn, description: "Subscribe here to receive alarms" });
    if (alarmEmail !== undefined) new CfnOutput(this, "AlarmEmail", { value: alarmEmail });
    new CfnOutput(this, "SessionKey", { value: keys.session.secretArn });
    new CfnOutput(this, "SealingKey", { value: keys.sealing.secretArn });
    new CfnOutput(this, "HostsKey", { value: keys.hosts.secretArn });
    new CfnOutput(this, "OriginKey", { value: String(settings.originKey) });
    if (providers !== undefined)
      new CfnOutput(this, "ProvidersSecret", {
        value: providers.secretArn,
        description: "Store the providers' credentials here",
      });
  }
}
