// The navigation, at the side; on a phone behind a button.
import SideNavigation from "@cloudscape-design/components/side-navigation";
import { useLocation } from "react-router";
import { useFollow } from "../app/follow.ts";
import { needsOf, useMay } from "../app/may.tsx";
import { text } from "../messages/text.ts";

/** `onFollow` hears of each link that is followed, also of one to the page that is shown. */
export function Navigation({ onFollow }: { onFollow: () => void }) {
  const say = text.shell.navigation;
  const { pathname } = useLocation();
  const links = [
    { text: say.home, href: "/" },
    { text: say.servers, href: "/servers" },
    { text: say.instances, href: "/instances" },
    { text: say.backups, href: "/backups" },
    { text: say.operations, href: "/operations" },
    { text: say.alerts, href: "/alerts" },
  ];
  const settings = [
    { text: say.people, href: "/settings/people" },
    { text: say.apiKeys, href: "/settings/api-keys" },
    { text: say.sshKeys, href: "/settings/ssh-keys" },
    { text: say.alertSettings, href: "/settings/alerts" },
    { text: say.webhooks, href: "/settings/webhooks" },
    { text: say.account, href: "/settings/account" },
  ];
  const activity = { text: say.activity, href: "/activity" };
  const all = [...links, ...settings, activity];
  const path = pathname.replace(/^\/deploys\//, "/instances/"); // a part of an instance
  const here = all.find(({ href }) => path === href || (href !== "/" && path.startsWith(`${href}/`)));
  const may = useMay();
  const follow = useFollow();
  const toItems = (each: readonly { text: string; href: string }[]) =>
    each.filter(({ href }) => may(...needsOf(href))).map((one) => ({ type: "link" as const, ...one }));
  return (
    <SideNavigation
      activeHref={here?.href ?? ""}
      onFollow={(event) => {
        follow(event);
        onFollow();
      }}
      items={[
        ...toItems(links),
        { type: "divider" },
        { type: "section", text: say.settings, items: toItems(settings) },
        { type: "divider" },
        ...toItems([activity]),
      ]}
    />
  );
}
