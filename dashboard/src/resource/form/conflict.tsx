// What somebody else has changed while the user was editing, beside the user's own values: nothing is overwritten unseen.
import Alert from "@cloudscape-design/components/alert";
import Button from "@cloudscape-design/components/button";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { text } from "../../messages/text.ts";
import type { Conflict, ForeignChange } from "./use-edit-form.ts";

export function ChangedMeanwhile({ of: { isDeleted, changes, keep, discard } }: { of: Conflict }) {
  const say = text.resource.conflict;
  const { title, about } = isDeleted ? say.deleted : say;
  return (
    <div role="alert">
      <Alert
        type="warning"
        header={title}
        action={
          <SpaceBetween direction="horizontal" size="xs">
            <Button onClick={discard}>{say.discard}</Button>
            <Button onClick={keep}>{say.keep}</Button>
          </SpaceBetween>
        }
      >
        {about}
        {!isDeleted && <Changes of={changes} />}
      </Alert>
    </div>
  );
}

function Changes({ of: changes }: { of: readonly ForeignChange[] }) {
  const say = text.resource.conflict;
  return (
    <table className="conflict">
      <thead>
        <tr>
          <th scope="col">{say.field}</th>
          <th scope="col">{say.currentValue}</th>
          <th scope="col">{say.userValue}</th>
        </tr>
      </thead>
      <tbody>
        {changes.map((change) => (
          <Row key={change.label} change={change} />
        ))}
      </tbody>
    </table>
  );
}

const Row = ({ change: { label, currentValue, userValue } }: { change: ForeignChange }) => (
  <tr>
    <th scope="row">{label}</th>
    <td>{currentValue === "" ? "–" : currentValue}</td>
    <td>{userValue === undefined ? text.resource.conflict.same : userValue === "" ? "–" : userValue}</td>
  </tr>
);
