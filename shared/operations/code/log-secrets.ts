// What the service knows that no log may show: where code can print it, no pattern recognizes it.
import { keys } from "../../data/keys.ts";
import { readSealed } from "../../data/sealed.ts";
import { find } from "../../data/table.ts";
import { openRepositories, openSecrets, secretsOf } from "../../records/code-secrets.ts";
import { withInstanceCredentials } from "../../records/backup-code.ts";
import { BackupCode, CodeRecord } from "../../records/schemas/code.ts";
import { DeployPlan } from "../../records/schemas/deploy.ts";

interface Of {
  account_id: string;
  /** The operation that the log is of, or that is in progress on the instance. */
  operation_id: string | null;
  instance_id?: string | undefined;
  /** Whose code a drill or a copy has. */
  backup_id?: string | undefined;
  /** Whose code may be another than the instance's by now. */
  deploy_id?: string | undefined;
}

/** The password that waits for the operation's task, and the secrets and credentials of all code that its jobs may have. */
export async function secretsInLogs({ account_id, operation_id, instance_id, backup_id, deploy_id }: Of): Promise<string[]> {
  const [sealed, current, backedUp, plan] = await Promise.all([
    operation_id === null ? undefined : readSealed(account_id, operation_id),
    instance_id === undefined ? undefined : find({ key: keys.code(account_id, instance_id), schema: CodeRecord }),
    backup_id === undefined ? undefined : find({ key: keys.backupCode(account_id, backup_id), schema: BackupCode }),
    deploy_id === undefined ? undefined : find({ key: keys.deployPlan(account_id, deploy_id), schema: DeployPlan }),
  ]);
  const fetched = backedUp && (await withInstanceCredentials(backedUp));
  const codes = [current, backedUp?.code, fetched?.code, plan?.code].filter((code) => code !== undefined);
  const ofCode = await Promise.all(codes.flatMap((code) => [openSecrets(code), credentialsOf(code)]));
  return [...new Set([...(sealed === undefined ? [] : [sealed]), ...ofCode.flat()])];
}

const credentialsOf = async (code: CodeRecord): Promise<string[]> =>
  (await openRepositories(code)).flatMap(({ credential }) => (credential === null ? [] : secretsOf(credential)));
