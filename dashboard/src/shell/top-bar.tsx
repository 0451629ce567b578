// The top bar: the product, light or dark mode, and the signed-in user.
import TopNavigation from "@cloudscape-design/components/top-navigation";
import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "react-router";
import { logOut } from "../login/log-out.ts";
import { useSession } from "../session/session.ts";
import { useFollow } from "../app/follow.ts";
import { switchMode, useDark } from "../app/mode.ts";
import { deployment } from "../app/queries.ts";
import { PRODUCT } from "../app/title.ts";

export function TopBar() {
  const user = useSession()?.user;
  const dark = useDark();
  const follow = useFollow();
  const navigate = useNavigate();
  const { other_dashboard: other = null, api_page: apiPage = null } = useQuery(deployment()).data ?? {};
  return (
    <TopNavigation
      identity={{
        href: "/",
        title: PRODUCT,
        onFollow: (event) => follow({ preventDefault: () => event.preventDefault(), detail: { href: "/" } }),
      }}
      utilities={[
        ...(other === null
          ? []
          : [
              {
                type: "button" as const,
                text: other.environment === "live" ? "Switch to live" : "Switch to sandbox",
                href: other.url,
                external: true,
                externalIconAriaLabel: "Opens in a new tab",
              },
            ]),
        { type: "button", text: dark ? "Light mode" : "Dark mode", onClick: switchMode },
        {
          type: "menu-dropdown",
          text: user?.name ?? "",
          description: user?.email ?? "",
          iconName: "user-profile",
          items: [
            { id: "/settings/account", text: "Account settings" },
            ...(apiPage === null
              ? []
              : [
                  {
                    id: apiPage,
                    text: "API documentation",
                    href: apiPage,
                    external: true,
                    externalIconAriaLabel: "Opens in a new tab",
                  },
                ]),
            { id: "log-out", text: "Sign out" },
          ],
          onItemClick: ({ detail }) => {
            if (detail.id === "log-out") void logOut();
            else if (detail.external !== true) void navigate(detail.id);
          },
        },
      ]}
    />
  );
}
