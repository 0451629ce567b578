// The functions of a template, and where their code is.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import * as z from "zod";
import type { Resource } from "./resolve.ts";

const FunctionProperties = z.object({
  Code: z.object({ S3Key: z.string().optional() }),
  Handler: z.string().default("index.handler"),
  Runtime: z.string().default(""),
  Timeout: z.number().default(3),
  MemorySize: z.number().default(128),
  Role: z.string(),
  LoggingConfig: z.object({ LogFormat: z.string().default("Text"), ApplicationLogLevel: z.string().default("INFO") }).optional(),
  Environment: z.object({ Variables: z.record(z.string(), z.coerce.string()).default({}) }).default({ Variables: {} }),
});
export interface LambdaFunction {
  logicalId: string;
  name: string;
  arn: string;
  /** The folder of its code; absent if the code is inline or zipped, which cannot run here. */
  directory: string | undefined;
  handler: string;
  environment: Record<string, string>;
  timeoutSeconds: number;
  memoryMegabytes: number;
  role: string;
  /** The lowest level of JSON log lines to keep. Absent if lines are text. */
  logLevel: string | undefined;
}

export function readFunctions(functions: readonly Resource[], outDir: string, stack: string): LambdaFunction[] {
  const directories = assetDirectories(outDir, stack);
  return functions.map(({ logicalId, name, arn, properties }) => {
    const parsed = FunctionProperties.parse(properties);
    return {
      logicalId,
      name,
      arn,
      directory: parsed.Runtime.startsWith("nodejs") ? directories.get(parsed.Code.S3Key ?? "") : undefined,
      handler: parsed.Handler,
      environment: parsed.Environment.Variables,
      timeoutSeconds: parsed.Timeout,
      memoryMegabytes: parsed.MemorySize,
      role: parsed.Role,
      logLevel: parsed.LoggingConfig?.LogFormat === "JSON" ? parsed.LoggingConfig.ApplicationLogLevel : undefined,
    };
  });
}

const AssetManifest = z.object({
  files: z.record(
    z.string(),
    z.object({
      source: z.object({ path: z.string().optional(), packaging: z.string().optional() }),
      destinations: z.record(z.string(), z.object({ objectKey: z.string() })),
    }),
  ),
});

/** Maps the key under which the CDK would upload an asset to the asset's current folder. */
function assetDirectories(outDir: string, stack: string): Map<string, string> {
  const path = join(outDir, `${stack}.assets.json`);
  if (!existsSync(path)) return new Map();
  return new Map(
    Object.values(AssetManifest.parse(JSON.parse(readFileSync(path, "utf8"))).files).flatMap(({ source, destinations }) =>
      source.packaging === "zip" && source.path !== undefined
        ? Object.values(destinations).map(({ objectKey }): [string, string] => [objectKey, join(outDir, source.path ?? "")])
        : [],
    ),
  );
}
