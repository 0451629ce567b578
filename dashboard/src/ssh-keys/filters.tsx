// Filters of the SSH keys by what their list shows: the type, and when they were added.
import type { SshKey } from "../../../shared/api/ssh-keys.ts";
import { type ListQuery, sshKeys } from "../app/queries.ts";
import { text } from "../messages/text.ts";
import { createdQuery, MoreFilters } from "../resource/list/created-filter.tsx";
import { FilterSelects } from "../resource/list/filter-select.tsx";
import type { Narrowing } from "../resource/list/list-query.ts";
import { smallList } from "../resource/list/small-list.ts";
import type { ListState } from "../resource/list/use-list-state.ts";

const NAMES = ["type"] as const;
/** All that the API takes. */
const TYPES = [
  "ssh-ed25519",
  "ssh-rsa",
  "ecdsa-sha2-nistp256",
  "ecdsa-sha2-nistp384",
  "ecdsa-sha2-nistp521",
  "sk-ssh-ed25519@openssh.com",
  "sk-ecdsa-sha2-nistp256@openssh.com",
].map((value) => ({ value, label: value }));

export const typeOf = ({ public_key }: SshKey): string => public_key.split(" ")[0] ?? "";

/** What a link has that is no such filter is left out. */
const sshKeyQuery = (listState: ListState): ListQuery => ({
  type: TYPES.find(({ value }) => value === listState.type)?.value,
  ...createdQuery(listState),
});

export const listSshKeys = smallList(sshKeys.list, {
  textsOf: ({ name, fingerprint }) => [name, fingerprint],
  matches: (key, { type }) => type === undefined || typeOf(key) === type,
});

export const narrowSshKeys = (): Narrowing => ({
  query: sshKeyQuery,
  Fields: SshKeyFilters,
  placeholder: text.sshKeys.filters.placeholder,
});

const SshKeyFilters: Narrowing["Fields"] = (props) => (
  <MoreFilters names={NAMES} labels={text.sshKeys.filters.added} {...props}>
    <FilterSelects say={text.sshKeys.filters} names={NAMES} options={{ type: TYPES }} {...props} />
  </MoreFilters>
);
