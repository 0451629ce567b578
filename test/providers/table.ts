// The providers that the operator's token rents machines from, with what the tests need to know of each: all tests of providers
// are made from this table, so a provider that has its row is tested like the others. Importing it starts nothing.
import type { Configuration } from "../../shared/platform/configuration.ts";
import { digitalocean } from "../../shared/providers/digitalocean.ts";
import { computeFingerprint } from "../../shared/providers/first-boot.ts";
import { hetzner } from "../../shared/providers/hetzner.ts";
import { machineName } from "../../shared/providers/machine-name.ts";
import type { LabeledMachine, Provider } from "../../shared/providers/provider.ts";
import type { Options } from "../../shared/providers/virtual-machines.ts";
import type { FakeProvider, FakeRequest, FakeResponse } from "./fake.ts";
import * as ofDigitalOcean from "./fake-digitalocean.ts";
import * as ofHetzner from "./fake-hetzner.ts";

export type Rented = {
  [Name in keyof Configuration]-?: NonNullable<Configuration[Name]> extends { token: string } ? Name : never;
}[keyof Configuration];

type AtLeastOne<T> = readonly [T, ...T[]];

interface Row {
  create: (options: Options) => Provider;
  startFake: (fingerprintOf: (publicKey: string) => string) => Promise<FakeProvider>;
  /** A region and a size that the fake offers. */
  place: { region: string; size: string };
  /** The path of the list of machines, to which orders are sent, too. */
  machinesPath: string;
  /** Whether it may be a while until lists show a new machine. */
  listsAreLate: boolean;
  /** An error as the provider describes it: its status, the provider's code, and a sentence. */
  errorResponse: (status: number, code: string, message?: string) => FakeResponse;
  /** Errors that an order gets if there are no more machines of this size. */
  outOfCapacity: AtLeastOne<FakeResponse>;
  /** Errors that an order gets if the operator may have no more machines. */
  quotaExceeded: AtLeastOne<FakeResponse>;
  /** Errors that a request gets that succeeds a little later. */
  busy: AtLeastOne<FakeResponse>;
  /** The response that lists these machines, with the number of the page that follows. */
  machinesPage: (machines: readonly unknown[], nextPage: number | null) => unknown;
  /** An entry of that list as the deployment `deployment` labels it, without what the provider need not say. */
  listedMachine: (machine: LabeledMachine, deployment: string) => object;
}

export const PROVIDERS: Readonly<Record<Rented, Row>> = {
  hetzner: {
    create: hetzner,
    startFake: ofHetzner.fakeHetzner,
    place: { region: "fsn1", size: "cx22" },
    machinesPath: "/servers",
    listsAreLate: false,
    errorResponse: ofHetzner.errorResponse,
    outOfCapacity: [ofHetzner.errorResponse(412, "resource_unavailable")],
    quotaExceeded: [ofHetzner.errorResponse(403, "resource_limit_exceeded")],
    busy: [ofHetzner.errorResponse(409, "conflict"), ofHetzner.errorResponse(423, "locked")],
    machinesPage: ofHetzner.machinesPage,
    listedMachine: ({ machine_id, created_at, ...labels }) => ({ id: Number(machine_id), created: created_at, labels }),
  },
  digitalocean: {
    create: digitalocean,
    startFake: ofDigitalOcean.fakeDigitalOcean,
    place: { region: "fra1", size: "s-2vcpu-4gb" },
    machinesPath: "/v2/droplets",
    listsAreLate: true,
    errorResponse: ofDigitalOcean.errorResponse,
    outOfCapacity: [ofDigitalOcean.errorResponse(422, "unprocessable_entity", "Size is not available in this region.")],
    quotaExceeded: [ofDigitalOcean.errorResponse(422, "unprocessable_entity", "This will exceed your droplet limit.")],
    busy: [ofDigitalOcean.errorResponse(422, "unprocessable_entity", "Droplet already has a pending event.")],
    machinesPage: ofDigitalOcean.machinesPage,
    listedMachine: ({ machine_id, created_at, ...ids }, deployment) => ({
      id: Number(machine_id),
      created_at,
      name: machineName({ name: "erp", ...ids }),
      tags: [deployment, `${deployment}:${ids.account_id}`],
    }),
  },
};

export const RENTED: readonly Rented[] = Object.keys(PROVIDERS).filter((name): name is Rented => name in PROVIDERS);

export type Fakes = Record<Rented, FakeProvider>;

export async function startFakes(): Promise<Fakes> {
  const start = async (provider: Rented) => [provider, await PROVIDERS[provider].startFake(computeFingerprint)] as const;
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- RENTED has each of them
  return Object.fromEntries(await Promise.all(RENTED.map(start))) as Fakes;
}

/** What the operator configures to rent machines from the fakes. */
export const configurationOf = (fakes: Fakes): object =>
  Object.fromEntries(RENTED.map((provider) => [provider, { token: fakes[provider].token, address: fakes[provider].address }]));

const hasMachinesPath = ({ path }: FakeRequest): boolean => RENTED.some((provider) => PROVIDERS[provider].machinesPath === path);
export const isList = (request: FakeRequest): boolean => request.method === "GET" && hasMachinesPath(request);
export const isOrder = (request: FakeRequest): boolean => request.method === "POST" && hasMachinesPath(request);
