import { useState } from "react";

function randomId(): string {
  return `hb-field-${Math.floor(Math.random() * 1000)}`;
}

/** The id of a form field: the one given, or one made up for the life of the component. */
export function useFieldId(given?: string): string {
  const [generated] = useState(randomId);
  return given ?? generated;
}
