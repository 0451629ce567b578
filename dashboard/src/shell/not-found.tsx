// The page for unknown URLs.
import Box from "@cloudscape-design/components/box";
import { Link } from "../app/link.tsx";
import { Page } from "../app/page.tsx";

export default function NotFound() {
  return (
    <Page title="Page not found">
      <Box>
        The link may be wrong, or this item was deleted. <Link to="/">Go to Home</Link>
      </Box>
    </Page>
  );
}
