// The search in the top bar: jumps to any server, instance, backup or page, or begins an action on an instance. `/` and Ctrl+K
// lead to it.
import Autosuggest, { type AutosuggestProps } from "@cloudscape-design/components/autosuggest";
import { useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { useLocation, useNavigate } from "react-router";
import type { DataOf } from "../../../shared/api/endpoint.ts";
import type { api } from "../../../shared/api/index.ts";
import { needsOf, useMay } from "../app/may.tsx";
import { instances, search } from "../app/queries.ts";
import { text } from "../messages/text.ts";
import { INSTANCE_NEEDS } from "../allowed/needs.ts";
import { type Act, actIn, actOption, mergeFound } from "./acts.ts";
import { withoutUrls } from "../resource/list/pasted.ts";
import { shownOf } from "../resource/words/status.tsx";
import { useSettled } from "../resource/page/use-pages.ts";

function pageOptions() {
  const { navigation, search: say } = text.shell;
  return [
    { label: navigation.home, value: "/" },
    { label: navigation.servers, value: "/servers" },
    { label: navigation.instances, value: "/instances" },
    { label: navigation.backups, value: "/backups" },
    { label: navigation.operations, value: "/operations" },
    { label: navigation.alerts, value: "/alerts" },
    { label: navigation.alertSettings, value: "/settings/alerts" },
    { label: navigation.webhooks, value: "/settings/webhooks" },
    { label: navigation.people, value: "/settings/people" },
    { label: navigation.apiKeys, value: "/settings/api-keys" },
    { label: navigation.sshKeys, value: "/settings/ssh-keys" },
    { label: navigation.account, value: "/settings/account" },
    { label: navigation.activity, value: "/activity" },
    { label: say.uploadBackup, value: "/backups/upload" },
    { label: say.createServer, value: "/servers/create" },
    { label: say.createInstance, value: "/instances/create" },
    { label: say.createApiKey, value: "/settings/api-keys/create" },
  ];
}

type Found = DataOf<typeof api.search.find>[number];

const actsOn = (matches: readonly Found[], act: Act) =>
  matches.filter(({ type }) => type === "instance").map((each) => actOption(act, each));

/** The number of newest instances that are offered to whoever types an action alone. */
const NEAR = 5;

/** The instance whose page is open, and the newest ones. */
function useNear(isAsked: boolean): { id: string; name: string; detail: string }[] {
  const [, open = ""] = /^\/instances\/(ins_[^/]+)/.exec(useLocation().pathname) ?? [];
  const here = useQuery({ ...instances.one(open), enabled: false }).data?.data;
  const newest = useQuery({ ...instances.list({ per_page: NEAR }), enabled: isAsked }).data?.data ?? [];
  const near = [...(here === undefined ? [] : [here]), ...newest.filter(({ id }) => id !== here?.id)];
  return near.slice(0, NEAR).map(({ id, name, domain }) => ({ id, name, detail: domain }));
}

/** What the action does with the instances that were found, or with those near, if nothing else was typed. */
function useActs(acting: ReturnType<typeof actIn>, matches: readonly Found[]): AutosuggestProps.Option[] {
  const near = useNear(acting?.rest === "");
  const may = useMay();
  if (acting === undefined || !may(...INSTANCE_NEEDS[acting.act])) return [];
  return acting.rest === "" ? near.map((each) => actOption(acting.act, each)) : actsOn(matches, acting.act);
}

/** What the API finds; without a letter or a digit, nothing is asked. */
function useFound(words: string) {
  const asks = /[\p{L}\p{N}]/u.test(words);
  const { data, isPending, isError, refetch } = useQuery({ ...search.find(words.slice(0, 100)), enabled: asks });
  return {
    matches: asks ? (data?.data ?? []) : [],
    pending: asks && isPending,
    failed: asks && isError,
    retry: (): void => {
      if (asks && isError) void refetch();
    },
  };
}

const PAUSE_MS = 200;
const groupsNow = () => {
  const { instances, servers, backups } = text.shell.navigation;
  return [
    { type: "instance", label: instances },
    { type: "server", label: servers },
    { type: "backup", label: backups },
  ];
};
const PATHS: Record<Found["type"], (id: string) => string> = {
  instance: (id) => `/instances/${id}`,
  server: (id) => `/servers/${id}`,
  backup: (id) => `/backups?backup=${id}`,
};

/** Only an uploaded backup has no name. */
const optionOf = ({ type, id, name, status, detail }: Found): AutosuggestProps.Option => ({
  value: PATHS[type](id),
  label: name || text.shell.search.uploadedBackup,
  description: detail ?? id,
  labelTag: shownOf(type, status).word,
});

/** What is offered for what was typed, unless the user has typed on since. */
function useGroups(settled: string, isLatest: boolean) {
  const say = text.shell.search;
  const acting = actIn(settled);
  const [ofAll, ofRest] = [useFound(settled), useFound(acting?.rest ?? "")];
  const { matches, isNamed } = mergeFound(settled, isLatest ? ofAll.matches : [], isLatest ? ofRest.matches : []);
  const acts = useActs(acting, isLatest ? ofRest.matches : []);
  const results = groupsNow().flatMap(({ type, label }) => {
    const options = matches.filter((each) => each.type === type).map(optionOf);
    return options.length === 0 ? [] : [{ label, options }];
  });
  const actGroups = acts.length === 0 ? [] : [{ label: say.actions, options: acts }];
  return {
    groups: isNamed ? [...results, ...actGroups] : [...actGroups, ...results],
    isVerbAlone: acting?.rest === "",
    failed: ofAll.failed || ofRest.failed,
    waits: !isLatest || ofAll.pending || ofRest.pending,
    retry: (): void => {
      ofAll.retry();
      ofRest.retry();
    },
  };
}

export default function Search() {
  const say = text.shell.search;
  const [typed, setTyped] = useState("");
  /** What was typed when Enter was pressed before there were results: the first one opens when they arrive. */
  const [entered, setEntered] = useState("");
  const searchText = withoutUrls(typed).trim();
  const settled = useSettled(searchText, PAUSE_MS);
  const navigate = useNavigate();
  useShortcut(focusField);
  const { groups, isVerbAlone, failed, waits, retry } = useGroups(settled, settled === searchText);
  const may = useMay();
  const pages = pageOptions().filter(
    ({ label, value }) => label.toLowerCase().includes(searchText.toLowerCase()) && may(...needsOf(value)),
  );
  const pageGroups = pages.length === 0 ? [] : [{ label: say.pages, options: pages }];
  // A noun alone, such as "backup", means the page of that name.
  const options = isVerbAlone ? [...pageGroups, ...groups] : [...groups, ...pageGroups];
  const [first] = options.flatMap((group) => group.options);
  const open = (path: string): void => {
    setTyped("");
    setEntered("");
    void navigate(path);
  };
  useEffect(() => {
    if (!waits && !failed && entered !== "" && entered === searchText && first?.value !== undefined) open(first.value);
  });
  return (
    <Autosuggest
      value={typed}
      options={options}
      filteringType="manual"
      hideEnteredTextOption
      ariaLabel={say.label}
      placeholder={say.placeholder}
      filteringResultsText={() => (first === undefined ? say.none : "")}
      statusType={failed ? "error" : waits ? "loading" : "finished"}
      loadingText={say.searching}
      errorText={say.failed}
      recoveryText={text.app.failure.tryAgain}
      onLoadItems={({ detail }) => {
        if (detail.samePage) retry();
      }}
      onChange={({ detail }) => {
        setTyped(detail.value);
        setEntered("");
      }}
      // There is no option if Enter was pressed while none was highlighted.
      onSelect={({ detail: { selectedOption } }) =>
        selectedOption?.value === undefined ? setEntered(searchText) : open(selectedOption.value)
      }
    />
  );
}

/** A narrow bar has a button instead, which shows the field and gives it the focus. */
function focusField(): void {
  const find = (selector: string) => document.querySelector<HTMLElement>(`#top header ${selector}`);
  const field = find("input");
  if (field !== null) field.focus();
  else find('[data-utility-special="search"] :is(a, button)')?.click();
}

/** Runs on a shortcut, but not while somebody types, or has a dialog open. */
function useShortcut(run: () => void): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      const isSlash = event.key === "/" && !event.ctrlKey && !event.metaKey && !event.altKey;
      const isCtrlK = event.key.toLowerCase() === "k" && (event.ctrlKey || event.metaKey) && !event.altKey;
      const types =
        event.target instanceof Element && event.target.closest("input, textarea, select, [contenteditable]") !== null;
      // The bar measures its parts with a hidden copy of them, which listens as well.
      if (event.defaultPrevented || !(isCtrlK || (isSlash && !types)) || document.querySelector('[role="dialog"]') !== null)
        return;
      event.preventDefault();
      run();
    };
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  });
}
