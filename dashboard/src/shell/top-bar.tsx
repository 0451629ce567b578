// The top bar: the product, the search, light or dark mode, and the signed-in user.
import TopNavigation from "@cloudscape-design/components/top-navigation";
import { useQuery } from "@tanstack/react-query";
import { lazy, Suspense, useState } from "react";
import { useNavigate } from "react-router";
import { logOut } from "../login/log-out.ts";
import { useSession } from "../session/session.ts";
import { useBrand } from "../app/brand.ts";
import { useDeployment } from "../app/deployment.ts";
import { useFollow } from "../app/follow.ts";
import { useMay } from "../app/may.tsx";
import { overview } from "../app/queries.ts";
import { load } from "../app/loading.ts";
import { switchMode, useDark } from "../app/mode.ts";
import { text } from "../messages/text.ts";
import { useOwnEmail } from "../people/own-email.ts";
import { inDigits } from "../resource/number.ts";

const About = lazy(() => load(() => import("./about.tsx")));
// The page does not wait for it.
const Search = lazy(() => load(() => import("./search.tsx")));

export function TopBar() {
  const say = text.shell.topBar;
  const [about, setAbout] = useState(false);
  const user = useSession()?.user;
  const email = useOwnEmail();
  const dark = useDark();
  const follow = useFollow();
  const navigate = useNavigate();
  const open = useOpenAlerts();
  const mayReadAlerts = useMay()("settings:read");
  const brand = useBrand();
  const { other_dashboard: other = null, api_page: apiPage = null } = useDeployment() ?? {};
  return (
    <>
      <TopNavigation
        identity={{
          href: "/",
          title: brand?.name ?? "",
          ...(brand?.logo != null && { logo: { src: brand.logo, alt: say.logo(brand.name) } }),
          onFollow: (event) => follow({ preventDefault: () => event.preventDefault(), detail: { href: "/" } }),
        }}
        search={
          <Suspense fallback={null}>
            <Search />
          </Suspense>
        }
        utilities={[
          ...switchTo(other),
          ...(mayReadAlerts ? [bell(open, follow)] : []),
          { type: "button", text: dark ? say.light : say.dark, onClick: switchMode },
          {
            type: "menu-dropdown",
            text: user?.name ?? "",
            description: email.unicode,
            iconName: "user-profile",
            items: [
              { id: "/settings/account", text: say.account },
              ...linkOut(say.documentation, apiPage),
              ...linkOut(text.app.support, brand?.support_url ?? null),
              { id: "about", text: say.about },
              { id: "log-out", text: say.signOut },
            ],
            onItemClick: ({ detail }) => {
              if (detail.id === "log-out") void logOut();
              else if (detail.id === "about") setAbout(true);
              else if (detail.external !== true) void navigate(detail.id);
            },
          },
        ]}
      />
      {about && (
        <Suspense>
          <About onDismiss={() => setAbout(false)} />
        </Suspense>
      )}
    </>
  );
}

/** The number of open alerts from the overview, which every page loads; undefined until it is there. */
const useOpenAlerts = (): number | undefined => useQuery({ ...overview(), enabled: false }).data?.data.alerts?.open;

/**
 * There before the number is known: the design system tells the buttons of the bar by their places, so one that came later would
 * take over the button beside it, and a click that is on its way there would be lost.
 */
const bell = (open: number | undefined, follow: ReturnType<typeof useFollow>) => ({
  type: "button" as const,
  iconName: "notification" as const,
  badge: open !== undefined && open > 0,
  ...(open !== undefined && open > 0 && { text: inDigits(open) }),
  title: text.shell.topBar.alerts,
  ariaLabel: open === undefined ? text.shell.topBar.alerts : text.shell.topBar.openAlerts(open),
  href: "/alerts",
  onFollow: follow,
});

/** A button that opens the dashboard of the other environment, if there is one. */
const switchTo = (other: { environment: string; url: string } | null) =>
  other === null
    ? []
    : [
        {
          type: "button" as const,
          text: other.environment === "live" ? text.shell.topBar.live : text.shell.topBar.sandbox,
          href: other.url,
          external: true,
          externalIconAriaLabel: text.app.newTab,
        },
      ];

/** A menu item that opens another site or page, if there is one. */
const linkOut = (label: string, href: string | null) =>
  href === null ? [] : [{ id: href, text: label, href, external: true, externalIconAriaLabel: text.app.newTab }];
