// What a deployment tells its dashboard, in a file that is served with it.
import { ENVIRONMENTS, type Environment } from "../../../shared/domain/environments.ts";
import { hasTexts } from "../session/has-texts.ts";
import { createStore } from "../session/store.ts";

export interface Brand {
  name: string;
  logo: string | null;
  color: string | null;
  support_url: string | null;
}

export interface Deployment {
  environment: Environment;
  /** The other environment's dashboard, if the operator has configured it. */
  other_dashboard: { environment: Environment; url: string } | null;
  /** The URL of the API reference. */
  api_page: string | null;
  /** Null is the product's own. */
  brand: Brand | null;
}

/** Undefined until it is known, null while it cannot be read. */
const deployment = createStore<Deployment | null | undefined>(undefined);
export const useDeployment = deployment.use;

/** A page does not wait longer: what it shows without the file is only less. */
const PATIENCE_MS = 2_000;
const SILENCE_MS = 20_000;
const RETRY_AFTER_MS = 10_000;

let reading: Promise<void> | undefined;

/**
 * Waits for the deployment, so that a page has its brand and its strip from the start, and nothing on it moves when they arrive.
 */
export async function loadDeployment(): Promise<void> {
  reading ??= readUntilKnown();
  await Promise.race([reading, new Promise((resolve) => setTimeout(resolve, PATIENCE_MS))]);
}

async function readUntilKnown(): Promise<void> {
  try {
    deployment.set(await readDeployment());
  } catch {
    deployment.set(null);
    setTimeout(() => void readUntilKnown(), RETRY_AFTER_MS);
  }
}

async function readDeployment(): Promise<Deployment> {
  const response = await fetch("/config.json", { signal: AbortSignal.timeout(SILENCE_MS) });
  const config: unknown = await response.json();
  if (!isDeployment(config)) throw new Error("/config.json is not what the dashboard expects");
  return { ...config, brand: config.brand ?? null };
}

function isDeployment(value: unknown): value is Omit<Deployment, "brand"> & { brand?: Brand | null } {
  return (
    hasTexts(value, "environment") &&
    isEnvironment(value.environment) &&
    "other_dashboard" in value &&
    (value.other_dashboard === null || isOtherDashboard(value.other_dashboard)) &&
    "api_page" in value &&
    isTextOrNull(value.api_page, (path) => path.startsWith("/")) &&
    (!("brand" in value) || value.brand === null || isBrand(value.brand))
  );
}

const isEnvironment = (text: string): text is Environment => ENVIRONMENTS.some((each) => each === text);

const isOtherDashboard = (value: unknown): boolean =>
  hasTexts(value, "environment", "url") && isEnvironment(value.environment) && hasProtocol(value.url, "https:", "http:");

/** The logo is only ever a picture, and the links lead to pages or to a mail program. */
const isBrand = (value: unknown): boolean =>
  hasTexts(value, "name") &&
  "logo" in value &&
  isTextOrNull(value.logo, (logo) => logo.startsWith("data:image/")) &&
  "color" in value &&
  isTextOrNull(value.color, (color) => /^#[0-9a-f]{6}$/i.test(color)) &&
  "support_url" in value &&
  isTextOrNull(value.support_url, (url) => hasProtocol(url, "https:", "http:", "mailto:"));

const hasProtocol = (url: string, ...protocols: string[]): boolean => protocols.includes(URL.parse(url)?.protocol ?? "");

const isTextOrNull = (value: unknown, isValid: (text: string) => boolean): boolean =>
  value === null || (typeof value === "string" && isValid(value));
