// Links of the design system that stay on the page: the router goes there, unless a new tab was asked for.
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
