// The top bar: the product, the search, light or dark mode, and the signed-in user.
import TopNavigation, { type TopNavigationProps } from "@cloudscape-design/components/top-navigation";
import { useQuery } from "@tanstack/react-query";
import { lazy, Suspense, useState } from "react";
import { useNavigate } from "react-router";
import { logOut } from "../login/log-out.ts";
import { useSession } from "../session/session.ts";
import { useBrand } from "../app/brand.ts";
import { useDeployment } from "../app/deployment.ts";
import { useFollow } from "../app/follow.ts";
import { useMay } from "../app/may.tsx";
import { useNarrow } from "../app/narrow.ts";
import { overview } from "../app/queries.ts";
import { load } from "../app/loading.ts";
import { switchMode, useDark } from "../app/mode.ts";
import { text } from "../messages/text.ts";
import { useOwnEmail } from "../people/own-email.ts";
import { formatCount } from "../resource/words/number.ts";

const About = lazy(() => load(() => import("./about.tsx")));
// The page does not wait for it.
const Search = lazy(() => load(() => import("./search.tsx")));

export function TopBar() {
  const [about, setAbout] = useState(false);
  const follow = useFollow();
  const brand = useBrand();
  const utilities = useUtilities(() => setAbout(true));
  return (
    <>
      <TopNavigation
        identity={{
          href: "/",
          title: brand?.name ?? "",
          ...(brand?.logo != null && { logo: { src: brand.logo, alt: text.shell.topBar.logo(brand.name) } }),
          onFollow: (event) => follow({ preventDefault: () => event.preventDefault(), detail: { href: "/" } }),
        }}
        search={
          <Suspense fallback={null}>
            <Search />
          </Suspense>
        }
        utilities={utilities}
      />
      {about && (
        <Suspense>
          <About onDismiss={() => setAbout(false)} />
        </Suspense>
      )}
    </>
  );
}

/** A phone has room for two buttons: the user's menu has the others, which the design system's own menu would hide twice. */
function useUtilities(showAbout: () => void): TopNavigationProps.Utility[] {
  const say = text.shell.topBar;
  const user = useSession()?.user;
  const email = useOwnEmail();
  const modeName = useDark() ? say.light : say.dark;
  const narrow = useNarrow();
  const follow = useFollow();
  const navigate = useNavigate();
  const open = useOpenAlerts();
  const mayReadAlerts = useMay()("settings:read");
  const brand = useBrand();
  const { other_dashboard: other = null, api_page: apiPage = null } = useDeployment() ?? {};
  return [
    ...(narrow ? [] : switchTo(other).map((link) => ({ type: "button" as const, ...link }))),
    ...(mayReadAlerts ? [bell(open, follow)] : []),
    ...(narrow ? [] : [{ type: "button" as const, text: modeName, onClick: switchMode }]),
    {
      type: "menu-dropdown",
      text: user?.name ?? "",
      ariaLabel: user?.name ?? "",
      description: email.unicode,
      iconName: "user-profile",
      disableUtilityCollapse: true,
      items: [
        { id: "/settings/account", text: say.account },
        ...(narrow ? [{ id: "mode", text: modeName }, ...switchTo(other)] : []),
        ...linkOut(say.documentation, apiPage),
        ...linkOut(text.app.support, brand?.support_url ?? null),
        { id: "about", text: say.about },
        { id: "log-out", text: say.signOut },
      ],
      onItemClick: ({ detail }) => {
        if (detail.id === "log-out") void logOut();
        else if (detail.id === "about") showAbout();
        else if (detail.id === "mode") switchMode();
        else if (detail.external !== true) void navigate(detail.id);
      },
    },
  ];
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
  ...(open !== undefined && open > 0 && { text: formatCount(open) }),
  disableUtilityCollapse: true,
  title: text.shell.topBar.alerts,
  ariaLabel: open === undefined ? text.shell.topBar.alerts : text.shell.topBar.openAlerts(open),
  href: "/alerts",
  onFollow: follow,
});

/** A link to the dashboard of the other environment, if there is one. */
const switchTo = (other: { environment: string; url: string } | null) =>
  linkOut(other?.environment === "live" ? text.shell.topBar.live : text.shell.topBar.sandbox, other?.url ?? null);

/** A link to another site or page, if there is one, for a menu or a button. */
const linkOut = (label: string, href: string | null) =>
  href === null ? [] : [{ id: href, text: label, href, external: true, externalIconAriaLabel: text.app.newTab }];
