// Makes links of the design system use the router, unless the user asked for a new tab.
import { useNavigate } from "react-router";

interface Followed {
  preventDefault: () => void;
  detail: { href?: string | undefined; external?: boolean | undefined };
}

export function useFollow(): (event: Followed) => void {
  const navigate = useNavigate();
  return (event) => {
    const { href, external } = event.detail;
    if (href === undefined || external === true || !href.startsWith("/")) return;
    event.preventDefault();
    void navigate(href);
  };
}
