// The modules of the sandbox's ERPs: what a new database has installed, and what the images have.
import type { ErpDatabase, SandboxErp } from "../../providers/sandbox/machines.ts";
import type { DifferingModule } from "../../domain/missing-modules.ts";

type Code = Pick<SandboxErp, "erp_version" | "edition"> & Partial<Pick<SandboxErp, "code">>;

/** The best known ones, with their versions in the series 19.0. */
const COMMUNITY: Readonly<Record<string, string>> = {
  base: "1.3",
  web: "1.0",
  mail: "1.19",
  account: "1.4",
  auth_signup: "1.0",
  base_import: "2.0",
  base_setup: "1.0",
  bus: "1.0",
  calendar: "1.1",
  contacts: "1.0",
  crm: "1.9",
  event: "1.9",
  fleet: "0.1",
  hr: "1.1",
  hr_expense: "2.1",
  hr_holidays: "1.6",
  maintenance: "1.0",
  mass_mailing: "2.7",
  mrp: "2.0",
  payment: "2.0",
  point_of_sale: "1.0.2",
  portal: "1.0",
  product: "1.2",
  project: "1.3",
  purchase: "1.2",
  repair: "1.0",
  sale: "1.2",
  sale_management: "1.0",
  sale_stock: "1.0",
  stock: "1.1",
  stock_account: "1.1",
  survey: "3.7",
  uom: "1.0",
  website: "1.0",
  website_sale: "1.1",
};
const ENTERPRISE: Readonly<Record<string, string>> = {
  web_enterprise: "1.0",
  account_accountant: "1.1",
  documents: "1.4",
  sign: "1.0",
};

/** Returns the versions as the ERP writes them into its database. */
const inSeries = (modules: Readonly<Record<string, string>>, series: string): Map<string, string> =>
  new Map(Object.entries(modules).map(([name, version]) => [name, `${series}.${version}`]));

export const imageModules = ({ erp_version, edition }: Code): Map<string, string> =>
  inSeries({ ...COMMUNITY, ...(edition === "enterprise" && ENTERPRISE) }, erp_version);

/** Those of a database that has just been initialized. */
export function initialModules(code: Code): Record<string, string> {
  const first = ["base", "web", "mail", ...(code.edition === "enterprise" ? ["web_enterprise"] : [])];
  return Object.fromEntries([...imageModules(code)].filter(([name]) => first.includes(name)));
}

/** Those of a database that the image does not have. */
export function modulesBeyondImage(code: Code, { modules }: ErpDatabase): Record<string, string> {
  const image = imageModules(code);
  return Object.fromEntries(Object.entries(modules).filter(([name]) => !image.has(name)));
}

/**
 * Those of a database that neither the image nor the code has in the same version, as a machine reports them
 * (script/modules.sh).
 */
export function differingModules(erp: Code, { modules }: ErpDatabase): DifferingModule[] {
  const available = new Map([...imageModules(erp), ...Object.entries(erp.code?.modules ?? {})]);
  return Object.entries(modules)
    .map(([name, version]) => ({ name, version, image_version: available.get(name) ?? null }))
    .filter(({ version, image_version }) => version !== image_version)
    .toSorted((a, b) => (a.name < b.name ? -1 : 1));
}
