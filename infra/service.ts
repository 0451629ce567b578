// One environment of the service, as a list of its parts.
import { Annotations, CfnOutput, Stack } from "aws-cdk-lib";
import { LogGroup } from "aws-cdk-lib/aws-logs";
import type { Construct } from "constructs";
import { BASE_PATH } from "../shared/api/base-path.ts";
import { Alarms } from "./alarms.ts";
import { Api } from "./api.ts";
import { Dashboard, type OwnDomain } from "./dashboard.ts";
import type { DashboardConfig } from "./dashboard-headers.ts";
import { type Chosen, splitList } from "./deploy-settings.ts";
import { configuration } from "./configuration.ts";
import { Functions } from "./function.ts";
import { Keys } from "./keys.ts";
import { OriginKey } from "./origin-key.ts";
import { chooseLogs } from "./removal.ts";
import { Schedules } from "./schedules.ts";
import { type Settings, SETTINGS, stackName } from "./settings.ts";
import type { Environment } from "../shared/domain/environments.ts";
import { Storage } from "./storage.ts";
import { OtherStore, type StorePlace } from "./store.ts";
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
  options: Chosen;
  /** Whether stack and table are protected against deletion: not during the creation, or a failed one could not be cleaned up. */
  guarded: boolean | undefined;
}

interface Outputs extends Pick<Props, "options"> {
  url: string;
  distribution: Dashboard["distribution"];
  storage: Storage;
  otherStore: OtherStore | undefined;
  topic: Alarms["topic"];
  schedules: Schedules;
  settings: Settings;
  keys: Keys["secrets"];
  providers: ReturnType<typeof configuration> | undefined;
}

export class Service extends Stack {
  constructor(scope: Construct, { environment, bundles, dashboard, options, guarded: isRequested, ...dashboardProps }: Props) {
    const settings = SETTINGS[environment];
    const guarded = settings.protectData && isRequested === true;
    super(scope, stackName(environment), {
      description: `ERP control plane, ${environment}`,
      terminationProtection: guarded,
      // A template may have 1 MB, and a third of it would be spaces.
      suppressTemplateIndentation: true,
      tags: { service: "erp-control-plane", environment },
    });

    if (settings.protectData && isRequested === undefined)
      Annotations.of(this).addWarningV2(
        "erp-control-plane:unprotected",
        "Neither the stack nor its table is protected against deletion: add --context protected=true once it has been created (docs/deploy.md)",
      );

    const table = oneTable(this, environment, settings, { guarded });
    const protection = { settings, replicas: splitList(options.secretReplicas) };
    const { secrets: keys } = new Keys(this, "keys", protection);
    const providers = settings.rents ? configuration(this, "providers", protection) : undefined;
    const storage = new Storage(this, "storage", { settings, options, guarded });
    const location = readStore(options);
    const otherStore = location && new OtherStore(this, "store", { location, ...protection });
    const store = otherStore ?? storage;
    const { requests, work, machineLog } = this.logs(environment, settings);
    const functions = new Functions(this, "functions", {
      environment,
      settings,
      bundles,
      table,
      keys,
      configuration: providers,
      store,
      domain: options.domain,
      mailSender: options.mailSender,
      brand: dashboardProps.brand,
    });
    new Workflows(this, "workflows", { environment, settings, functions, taskLog: work, machineLog });
    const originKey = new OriginKey(this, "origin-key", { number: settings.originKey });
    const api = new Api(this, "api", { environment, settings, functions, originKey, logGroup: requests });
    const { url, distribution } = new Dashboard(this, "dashboard", {
      environment,
      rest: api.rest,
      originKey,
      files: dashboard,
      ...dashboardProps,
      domain: readDomain(options),
      webAcl: options.webAcl,
      storeUrl: store.url,
      logGroup: work,
    });
    storage.allowUploadsFrom(url);
    const reserved = options.reserved !== undefined;
    const schedules = new Schedules(this, "schedules", { environment, settings, functions, logGroup: work, reserved, url });
    const logs = [requests, work];
    const { topic } = new Alarms(this, "alarms", { environment, api, table, schedules, logs, options });

    this.output({ url, distribution, options, storage, otherStore, topic, schedules, settings, keys, providers });
  }

  /** One log group per kind of function, so that a request's ID is looked up in one place. */
  private logs(environment: Environment, settings: Settings) {
    const chosen = chooseLogs(settings);
    return {
      requests: new LogGroup(this, "requests", chosen),
      work: new LogGroup(this, "work", chosen),
      // With this prefix the group needs no entry in the region's one policy for deliveries, which is small.
      machineLog: new LogGroup(this, "machines", {
        ...chosen,
        logGroupName: `/aws/vendedlogs/states/${stackName(environment)}`,
      }),
    };
  }

  /** What the operator and the commands read about a deployment. */
  private output(outputs: Outputs): void {
    const { url, distribution, options, storage, otherStore, topic, schedules, settings, keys, providers } = outputs;
    new CfnOutput(this, "Dashboard", { value: url });
    new CfnOutput(this, "BaseUrl", { value: `${url}${BASE_PATH}`, description: "Base URL of the API" });
    if (options.domain !== undefined)
      new CfnOutput(this, "Distribution", {
        value: distribution.domainName,
        description: "The target for your domain's DNS record",
      });
    new CfnOutput(this, "BackupBucket", {
      value: storage.backups.bucketName,
      description: otherStore === undefined ? "Archives of backups" : "Unused: archives of backups are in another store",
    });
    new CfnOutput(this, "RecoverDays", {
      value: String(storage.recoverDays),
      description: "Days for which deleted archives can be recovered",
    });
    this.outputProtection(storage, options);
    if (otherStore !== undefined) {
      new CfnOutput(this, "BackupStore", { value: otherStore.url, description: "Archives of backups" });
      new CfnOutput(this, "StoreKeys", { value: otherStore.keys.secretArn, description: "Store the keys of that store here" });
    }
    if (schedules.reservedRuns > 0) new CfnOutput(this, "ReservedConcurrency", { value: String(schedules.reservedRuns) });
    new CfnOutput(this, "AlarmTopic", { value: topic.topicArn, description: "Subscribe here to receive alarms" });
    if (options.mailSender !== undefined) new CfnOutput(this, "MailSender", { value: options.mailSender });
    if (options.alarmEmail !== undefined) new CfnOutput(this, "AlarmEmail", { value: options.alarmEmail });
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

  private outputProtection({ lockDays, replication }: Storage, { archiveAdmins, replicaBucket, secretReplicas }: Chosen): void {
    const values = {
      ArchiveAdmins: archiveAdmins,
      LockDays: lockDays?.toString(),
      ReplicaBucket: replicaBucket,
      ReplicationRole: replication?.replicationRole.roleArn,
      SecretReplicas: secretReplicas,
    };
    for (const [name, value] of Object.entries(values)) if (value !== undefined) new CfnOutput(this, name, { value });
  }
}

/** A domain always comes with its certificate: `findProblem` makes sure of it. */
const readDomain = ({ domain: name, certificate: certificateArn }: Chosen): OwnDomain | undefined =>
  name === undefined || certificateArn === undefined ? undefined : { name, certificateArn };

const readStore = ({ storeEndpoint: endpoint, storeBucket: bucket, storeRegion: region }: Chosen): StorePlace | undefined =>
  endpoint === undefined || bucket === undefined || region === undefined ? undefined : { endpoint, bucket, region };
