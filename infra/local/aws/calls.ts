// What the local AWS is asked to do.

export type Service = "dynamodb" | "states" | "secretsmanager" | "sqs" | "lambda" | "s3";

/**
 * One call of an SDK. What becomes of it is in it once it was served: `actions` are the IAM actions that it needed, `capacity`
 * DynamoDB's units.
 */
export interface Call {
  requestId: string;
  /** The function that makes the call, or the operator. */
  principal: string;
  service: Service;
  action: string;
  /** 1, or more for what an SDK tries again: a call that took too long has been served, too. */
  attempt: number;
  /** The body of a call in JSON, of all services but S3. */
  input: () => Promise<unknown>;
  /** What the database gets in its place. */
  forwarded?: unknown;
  actions: string[];
  resources: string[];
  error?: string | undefined;
  capacity?: number | undefined;
}
