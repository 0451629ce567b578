// The status of an instance, or of its ERP: of one that runs and cannot be used, only that matters.
import type { ListedInstance } from "../../../shared/api/instances.ts";
import { HEALTH_OF_ERP } from "../../../shared/domain/lifecycle.ts";
import { shownOf, Status } from "../resource/words/status.tsx";

export const isFailing = ({ health }: Pick<ListedInstance, "health">): boolean => health.status === HEALTH_OF_ERP.failing;

export const statusInWords = ({ health, status }: ListedInstance): string =>
  (isFailing({ health }) ? shownOf("health", health.status) : shownOf("instance", status)).word;

export const InstanceStatus = ({ of }: { of: ListedInstance }) =>
  isFailing(of) ? <Status of="health" status={of.health.status} /> : <Status of="instance" status={of.status} />;
