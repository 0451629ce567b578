// The navigation, at the side; on a phone behind a button.
import SideNavigation from "@cloudscape-design/components/side-navigation";
import { useLocation } from "react-router";
import { useFollow } from "../app/follow.ts";

const LINKS = [
  { text: "Home", href: "/" },
  { text: "Servers", href: "/servers" },
  { text: "Instances", href: "/instances" },
  { text: "Backups", href: "/backups" },
];
const SETTINGS = [
  { text: "API keys", href: "/settings/api-keys" },
  { text: "SSH keys", href: "/settings/ssh-keys" },
  { text: "Account", href: "/settings/account" },
];
const ACTIVITY = { text: "Activity", href: "/activity" };

export function Navigation() {
  const { pathname } = useLocation();
  const all = [...LINKS, ...SETTINGS, ACTIVITY];
  const here = all.find(({ href }) => pathname === href || (href !== "/" && pathname.startsWith(`${href}/`)));
  const link = (each: { text: string; href: string }) => ({ type: "link" as const, ...each });
  return (
    <SideNavigation
      activeHref={here?.href ?? ""}
      onFollow={useFollow()}
      items={[
        ...LINKS.map(link),
        { type: "divider" },
        { type: "section", text: "Settings", items: SETTINGS.map(link) },
        { type: "divider" },
        link(ACTIVITY),
      ]}
    />
  );
}
